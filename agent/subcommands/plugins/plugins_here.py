"""The plugins that a session started here would have, and what else is installed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from gatewright.agent.errors import GatewrightError
from gatewright.agent.plugins.acting import acts_of
from gatewright.agent.plugins.consent import Consent, consent_text
from gatewright.agent.plugins.gathering import Gathered, Ground, gathered
from gatewright.agent.plugins.options import Options
from gatewright.agent.plugins.parts import Plugin
from gatewright.agent.plugins.reading_parts import FoundPlugin, read_plugin
from gatewright.agent.plugins.record import LOCAL, Record
from gatewright.agent.plugins.store import Store
from gatewright.agent.plugins.tree import HISTORY, tree_of
from gatewright.agent.subcommands.place import Here, here
from gatewright.skills.places import SKILL

NAMED = 20  # parts in one directory
SECRET = "(kept secret)"
_PARTS = ("skills", "commands", "agents", "styles", "themes", "workflows")


class PluginRow(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """`state` is on, off, offered, stopped or missing; `why` where it is not on."""

    id: str
    version: str = ""
    state: str
    why: str = ""
    source: str = ""
    resolved: str = ""
    digest: str = ""
    path: str = ""
    linked: bool = False


class PluginsHere:
    """Raises GatewrightError where the lock cannot be read."""

    def __init__(self, at: Here | None = None) -> None:
        self.at = at if at is not None else here()
        self.store = Store(self.at.places.home)
        self.lock = self.store.lock.read()
        ground = Ground(loaded=self.at.loaded, places=self.at.places, trusted=self.at.trusted)
        self.gathered: Gathered = gathered(ground)

    def rows(self) -> list[PluginRow]:
        chosen = self.gathered.chosen
        named = {*self.lock.plugins, *chosen.on, *chosen.offered}
        return [self._row(id) for id in sorted(named)]

    def _row(self, id: str) -> PluginRow:
        record = self.lock.plugins.get(id)
        why = next((f.text for f in self.gathered.faults if f.plugin == id and f.stopped), "")
        if any(each.id == id for each in self.gathered.plugins):
            state = "on"
        elif id in self.gathered.chosen.offered:
            state = "offered"
            why = f"this project names it: agent plugin enable {id} --scope project lets it"
        elif record is None:
            state = "missing"
        else:
            state = "stopped" if why else "off"
        if record is None:
            return PluginRow(id=id, state=state, why=why)
        return PluginRow(
            id=id,
            version=record.version,
            state=state,
            why=why,
            source=record.said,
            resolved=record.resolved,
            digest=record.digest,
            path=str(self.store.root(record)),
            linked=record.linked,
        )

    def details(self, record: Record) -> Iterator[str]:
        """What was agreed to, then what it brings and what it was told."""
        found = read_plugin(
            self.store.root(record),
            market=record.market,
            data=self.store.data(record.id),
            entry=record.entry,
            called=record.name,
        )
        row = self._row(record.id)
        about = found.manifest.description
        yield consent_text(Consent(now=record, description=about, notes=found.later))
        yield f"It is {row.state}{f': {row.why}' if row.why else ''}"
        yield f"Directory: {row.path}"
        yield from brought(found.plugin)
        yield from self._told(record.id, found)

    def _told(self, id: str, found: FoundPlugin) -> Iterator[str]:
        wanted = found.manifest.user_config
        try:
            values: Mapping[str, str] = Options(self.at.places.home).values(id, wanted)
        except GatewrightError as error:
            yield str(error)
            return
        for key, want in wanted.items():
            value = SECRET if want.sensitive and values.get(key) else values.get(key, "(not set)")
            yield f"Option {key}: {value}  {want.title or want.description}".rstrip()


def of_folder(folder: Path) -> Iterator[str]:
    """What a directory would bring, were it installed. Raises GatewrightError."""
    tree = tree_of(folder, HISTORY)
    found = read_plugin(tree.root, market=LOCAL, data=Path())
    said = found.manifest
    now = Record(
        name=said.name,
        market=LOCAL,
        version=said.version,
        publisher=said.publisher,
        said=str(tree.root),
        digest=tree.digest(),
        acts=acts_of(found.plugin),
        files=len(tree.items),
        bytes=tree.bytes,
    )
    yield consent_text(Consent(now=now, description=said.description, notes=found.later))
    yield from brought(found.plugin)


def brought(plugin: Plugin) -> Iterator[str]:
    """Its parts, by kind and place, with the names of what lies there."""
    for part in _PARTS:
        places: tuple[Path, ...] = msgspec.structs.asdict(plugin)[part]
        if places:
            told = (f"{path.relative_to(plugin.root)}{_inside(path)}" for path in places)
            yield f"{part.capitalize()}: {', '.join(told)}"


def _inside(place: Path) -> str:
    """What a directory of parts holds, files without their ending."""
    if (place / SKILL).is_file():
        return ""
    try:
        names = sorted(each.stem if each.is_file() else each.name for each in place.iterdir())
    except OSError:  # a single file, or what nobody may read
        return ""
    seen = [name for name in names if not name.startswith(".")]
    more = f", and {len(seen) - NAMED} more" if len(seen) > NAMED else ""
    return f" ({', '.join(seen[:NAMED])}{more})" if seen else ""
