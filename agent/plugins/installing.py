"""Installs a tree that lies aside: looked through, agreed to, renamed, and only then in the lock.

A market's fetch and a directory of the person's own end here: there is no other way in.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec.structs import replace

from gatewright.agent.errors import GatewrightError
from gatewright.agent.plugins.acting import SIGNS, acts_of
from gatewright.agent.plugins.consent import Agreed, Consent
from gatewright.agent.plugins.lookalike import looks_like
from gatewright.agent.plugins.manifest import BadManifest, wrong_name
from gatewright.agent.plugins.reading_parts import FoundPlugin, read_plugin
from gatewright.agent.plugins.record import LOCAL, Lock, Record
from gatewright.agent.plugins.store import Store
from gatewright.agent.plugins.tree import HISTORY, Tree, copy_tree, remove_tree, seal, tree_of
from gatewright.tools.system.regular import read_regular
from gatewright.tools.system.untyped_json import obj

PACKAGE_BYTES = 1024 * 1024


class Declined(GatewrightError):
    """The person said no, or nobody could be asked."""


class Installed(msgspec.Struct, frozen=True):
    record: Record
    found: FoundPlugin
    before: Record | None = None

    @property
    def same(self) -> bool:
        """It was there already, as it is now."""
        return self.before is not None and self.before.digest == self.record.digest


def install_path(store: Store, source: Path, agreed: Agreed, *, linked: bool = False) -> Installed:
    """A directory of the person's own: a copy of it, or where it lies. Raises GatewrightError."""
    real = Path(os.path.realpath(source))
    if not real.is_dir():
        raise GatewrightError(f"There is no directory {source}.")
    named = {"source": "directory", "path": str(real)}
    record = Record(name="", market=LOCAL, source=named, said=str(real), linked=linked)
    if linked:
        return install_tree(store, real, replace(record, folder=str(real)), agreed)
    with store.aside() as folder:
        try:
            tree = copy_tree(real, folder / real.name, SIGNS)
        except OSError as error:
            raise _no_room(error, real) from error
        return _install(store, tree, record, agreed)


def install_tree(store: Store, folder: Path, record: Record, agreed: Agreed) -> Installed:
    """`record` says market, source and what it resolved to, and the name where a market gives one.

    Raises GatewrightError; whatever was installed before stays as it was then.
    """
    if not record.linked:
        remove_tree(folder / ".git")  # what a fetch leaves: history acts too
        seal(tree_of(folder))
    tree = tree_of(folder, HISTORY if record.linked else frozenset())
    return _install(store, tree, record, agreed)


def _install(store: Store, tree: Tree, record: Record, agreed: Agreed) -> Installed:
    """What lies sealed where nobody else writes, or where its author keeps it."""
    folder = tree.root
    found = read_plugin(
        folder, market=record.market, data=Path(), entry=record.entry, called=record.name
    )
    name = record.name or found.manifest.name
    if why := wrong_name(name):
        raise BadManifest(f"The name {name!r} {why}.")
    lock = store.lock.read()
    _not_another(name, record.market, lock)
    said = found.manifest
    digest = tree.digest()
    full = replace(
        record,
        name=name,
        version=said.version or record.version,
        publisher=said.publisher or record.publisher,
        digest=digest,
        folder=record.folder if record.linked else f"{record.market}/{name}/{digest[7:23]}",
        acts=acts_of(found.plugin, tree.plain),
        settings=found.plugin.settings,
        files=len(tree.items),
        bytes=tree.bytes,
        installed_at=time.time(),
    )
    before = lock.plugins.get(full.id)
    notes = tuple(_notes(found, name, folder, lock))
    _agree(Consent(now=full, description=said.description, before=before, notes=notes), agreed)
    try:
        if not record.linked:
            store.take_in(tree, full)
    except OSError as error:
        raise _no_room(error, folder) from error
    store.lock.put(full)
    if before is not None and not before.linked and before.folder != full.folder:
        _retire(store, before)
    return Installed(full, found, before)


def _agree(about: Consent, agreed: Agreed) -> None:
    before, now = about.before, about.now
    if before is not None and _shown(before) == _shown(now):
        return  # this very tree, agreed to before
    if not agreed(about):
        raise Declined(f"{now.name} is not installed: nobody agreed to it.")


def _shown(record: Record) -> object:
    """What a yes is about: what its market adds to its manifest is in no file of the tree."""
    return record.digest, record.folder, record.acts, dict(record.settings)


def _not_another(name: str, market: str, lock: Lock) -> None:
    if other := looks_like(name, (each.name for each in lock.plugins.values())):
        raise BadManifest(
            f"{name} looks like {other}, which is installed: one of them may be meant to be taken "
            f"for the other. agent plugin uninstall {other} makes room."
        )
    for each in lock.plugins.values():
        if each.name == name and each.market != market:
            raise GatewrightError(
                f"{name} is installed from {each.market} already: "
                f"agent plugin uninstall {each.id} makes room."
            )


def _notes(found: FoundPlugin, name: str, folder: Path, lock: Lock) -> Iterator[str]:
    yield from found.later
    for key, value in found.plugin.settings.items():
        yield f"it sets {key} to {value} where you say nothing"
    yield from (f"left out: {error}" for error in found.errors)
    if found.manifest.name != name:
        yield f"it calls itself {found.manifest.name}"
    known = {each.name for each in lock.plugins.values()} | set(lock.plugins)
    for needed in found.manifest.needs:
        if needed not in known:
            yield f"it needs {needed}: agent plugin install {needed}"
    if missing := npm_command(folder):
        yield missing


def npm_command(folder: Path) -> str:
    """What would install the packages it needs; nobody runs that but the person."""
    try:
        package = msgspec.json.decode(read_regular(folder / "package.json", PACKAGE_BYTES))
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ""
    if not obj(obj(package).get("dependencies")) or (folder / "node_modules").exists():
        return ""
    return (
        "its npm packages are not installed: bring them with its source (npm ci --ignore-scripts)"
    )


def _retire(store: Store, before: Record) -> None:
    """From now on its age counts, as soon as no session uses it."""
    try:
        os.utime(store.root(before))
    except OSError:
        return


def _no_room(error: OSError, path: Path) -> GatewrightError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return GatewrightError("The disk is full: nothing was installed, and nothing changed.")
    return GatewrightError(f"{path} cannot be installed: {error.strerror or error}.")
