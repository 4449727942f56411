"""Updates of installed plugins: what acts anew is agreed to again, or nothing changes.

One plugin after the other: what goes wrong with one is told, and its old version stays in use.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec

from gatewright.agent.errors import GatewrightError
from gatewright.agent.plugins.consent import Agreed, Consent
from gatewright.agent.plugins.installing import Declined
from gatewright.agent.plugins.marketplaces.getting import Getting
from gatewright.agent.plugins.marketplaces.known import Known
from gatewright.agent.plugins.marketplaces.market import Entry
from gatewright.agent.plugins.record import DIRECT, LOCAL, Record
from gatewright.agent.plugins.sources.source import GitSource, LocalSource
from gatewright.agent.plugins.sources.versions import newer, only_patch
from gatewright.agent.plugins.store import Store
from gatewright.agent.plugins.tree import BadTree, tree_of
from gatewright.agent.settings.edit import edit, section

State: TypeAlias = Literal["same", "updated", "declined", "failed", "local"]


class Updated(msgspec.Struct, frozen=True, kw_only=True):
    """How it went with one plugin; `text` says it in a sentence."""

    id: str
    state: State
    text: str
    now: Record | None = None


class News(msgspec.Struct, frozen=True):
    """A plugin of which its marketplace lists something newer."""

    record: Record
    version: str
    patch: bool

    def said(self) -> str:
        before = self.record.version or self.record.resolved[:12] or "the version here"
        return f"{self.record.id} {before} → {self.version}"


def only_new(agreed: Agreed) -> Agreed:
    """Ask only where something would act that did not before."""

    def answer(about: Consent) -> bool:
        return (about.before is not None and not about.new) or agreed(about)

    return answer


async def update(
    getting: Getting, records: Iterable[Record], agreed: Agreed, settings: Path
) -> list[Updated]:
    """`settings` is the person's file, where a plugin that has another name now is on or off."""
    chosen = tuple(records)
    markets = frozenset(record.market for record in chosen) - {LOCAL, DIRECT}
    failed = await getting.refreshed(markets)
    told: list[Updated] = []
    for record in chosen:
        if record.market in failed:
            why = f"{failed[record.market]} It stays as it is."
            told.append(Updated(id=record.id, state="failed", text=why))
        else:
            told.append(await _one(getting, record, agreed, settings))
    return told


async def _one(getting: Getting, record: Record, agreed: Agreed, settings: Path) -> Updated:
    id = record.id
    if record.market == LOCAL:
        text = f"It is a directory of yours: agent plugin install {record.said} takes it again."
        return Updated(id=id, state="local", text=text)
    try:
        done = await getting.again(record, agreed)
        now = done.record
        if now.id != id:
            _renamed(getting.adding.store, record, now, settings)
    except Declined:
        return Updated(id=id, state="declined", text="It stays as it is: you did not agree.")
    except GatewrightError as error:
        return Updated(id=id, state="failed", text=f"{error} It stays as it is.")
    if now.id != id:
        return Updated(id=id, state="updated", text=f"It is called {now.id} now.", now=now)
    if (now.digest, now.acts) == (record.digest, record.acts):
        text = f"It is up to date: {now.version or now.resolved[:12] or 'as it was'}."
        return Updated(id=id, state="same", text=text, now=now)
    was = record.version or record.resolved[:12] or "an older one"
    return Updated(id=id, state="updated", text=f"{was} is replaced{_at(now)}.", now=now)


def _renamed(store: Store, old: Record, new: Record, settings: Path) -> None:
    """What it kept, and whether it is on, goes over; each step may be done twice."""
    before, after = store.data(old.id), store.data(new.id)
    if before.is_dir() and not after.exists():
        with suppress(OSError):
            before.rename(after)

    def change(values: dict[str, Any]) -> None:
        said = values.get("enabledPlugins")
        if isinstance(said, dict) and old.id in said:
            switches = section(settings, values, "enabledPlugins")
            switches.setdefault(new.id, switches.pop(old.id))

    if settings.exists():
        edit(settings, change)
    store.lock.drop(old.id)


def news(getting: Getting, records: Iterable[Record]) -> Iterator[News]:
    """What the marketplaces list as newer, by what they said last; nobody is asked."""
    there = getting.offered()
    for record in records:
        if record.market in (LOCAL, DIRECT):
            continue
        try:
            known, entry = there.find(record.name, record.market)
        except GatewrightError:
            continue
        if version := _newer(getting, record, known, entry):
            patch = only_patch(record.version, entry.version) and entry.name == record.name
            yield News(record, version, patch)


def _newer(getting: Getting, record: Record, known: Known, entry: Entry) -> str:
    if entry.name != record.name:
        return f"{entry.name}, as it is called now"
    if _stands(getting, record, known, entry):
        return ""  # its list says another version than the plugin itself, which counts
    if entry.version and record.version and entry.version != record.version:
        return entry.version if newer(entry.version, record.version) else ""
    match entry.source:
        case GitSource(sha=sha) if sha and sha != record.resolved:
            return sha[:12]
        case LocalSource(path=path):
            base = getting.adding.markets.base(known)
            if base is not None and (known.linked or known.resolved != record.resolved):
                return _changed(base / path, record, known)
        case _:
            pass
    return ""


def _stands(getting: Getting, record: Record, known: Known, entry: Entry) -> bool:
    """Whether the very files that are installed still lie in the marketplace's directory."""
    base = getting.adding.markets.base(known)
    if base is None or not isinstance(entry.source, LocalSource):
        return False
    try:
        return tree_of(base / entry.source.path, frozenset({".git"})).digest() == record.digest
    except (BadTree, OSError):
        return False


def _changed(folder: Path, record: Record, known: Known) -> str:
    try:
        same = tree_of(folder, frozenset({".git"})).digest() == record.digest
    except (BadTree, OSError):
        return ""
    return "" if same else known.resolved[:12] or "other files"


def _at(record: Record) -> str:
    found = record.version or record.resolved[:12]
    return f" by {found}" if found else ""
