"""Join checked layers into one, each key in the way that the schema says.

A project, trusted or not, makes limits and guards only stricter than the person's own layers do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias, TypeVar, cast, get_args, get_origin

import msgspec

from gatewright.agent.settings.layers.coerce import is_section, strip, trait_of
from gatewright.agent.settings.layers.key import spelled
from gatewright.agent.settings.layers.known_fields import known_fields
from gatewright.agent.settings.modes import freedom
from gatewright.agent.settings.schema import Settings
from gatewright.agent.settings.traits import COMMITTED, ORDERED, Source, Trait

Values: TypeAlias = dict[str, Any]
Layer: TypeAlias = tuple[Source, Values]
Given: TypeAlias = Sequence[tuple[Source, Any]]
Provenance: TypeAlias = dict[str, tuple[Source, ...]]
Path: TypeAlias = tuple[str, ...]
Part = TypeVar("Part", bound=msgspec.Struct)


class Ignored(msgspec.Struct, frozen=True):
    """A project's value that would have loosened what holds."""

    source: Source
    key: Path
    message: str


class Merged(msgspec.Struct, frozen=True):
    """`provenance` names the layers behind each dotted key."""

    values: Values
    provenance: Provenance
    ignored: tuple[Ignored, ...]

    def settings(self) -> Settings:
        return built(self.values, Settings)


def merge(layers: Sequence[Layer]) -> Merged:
    """Layers come strongest first."""
    join = _Join()
    values = join.section(layers, Settings, ())
    return Merged(values, join.provenance, tuple(join.ignored))


def built(values: Values, kind: type[Part]) -> Part:
    """What was checked, as the schema's own; only what is said is looked at."""
    said: Values = {}
    for field in known_fields(kind) if values else ():
        if (name := field.encode_name) in values:
            bare = strip(field.type)
            value = values[name]
            said[field.name] = (
                built(value, bare) if is_section(bare) else msgspec.convert(value, field.type)
            )
    return kind(**said)


def restricting(values: Values, kind: type[msgspec.Struct] = Settings) -> Values:
    """What of a layer forbids or limits: all that is kept of a file that broke."""
    kept: Values = {}
    for field in known_fields(kind):
        name = field.encode_name
        if name in values:
            found = _restricting(values[name], field.type, field.default)
            if found not in (None, {}):
                kept[name] = found
    return kept


def _restricting(value: Any, kind: Any, default: Any) -> Any:
    bare, trait = strip(kind), trait_of(kind)
    if is_section(bare):
        return restricting(value, bare)
    if get_origin(bare) is dict and is_section(entry := strip(get_args(bare)[1])):
        table = {name: restricting(item, entry) for name, item in value.items()}
        return {name: item for name, item in table.items() if item}
    if trait.merge in ORDERED:
        return value if _looseness(trait, value) <= _looseness(trait, default) else None
    return value if trait.restricts else None


class _Join:
    def __init__(self) -> None:
        self.provenance: Provenance = {}
        self.ignored: list[Ignored] = []

    def section(self, layers: Sequence[Layer], kind: type[msgspec.Struct], at: Path) -> Values:
        joined: Values = {}
        for field in known_fields(kind) if any(values for _, values in layers) else ():
            name = field.encode_name
            given = [(source, values[name]) for source, values in layers if name in values]
            if not given:
                continue
            found = self._value(given, field.type, field.default, (*at, name))
            if found is not None:
                joined[name] = found
        return joined

    def _value(self, given: Given, kind: Any, default: Any, at: Path) -> Any:
        bare, trait = strip(kind), trait_of(kind)
        key = spelled(at)
        if is_section(bare):
            return self.section(given, bare, at)
        if get_origin(bare) is dict:
            return self._table(given, get_args(bare)[1], at)
        if get_origin(bare) is tuple and trait.merge != "replace":
            self.provenance[key] = tuple(source for source, items in given if items)
            return _distinct(item for _, items in given for item in items)
        if trait.merge in ORDERED:
            return self._tightened(given, trait, default, at)
        if trait.merge == "mode":
            given = self._modes(given, at)
        self.provenance[key] = (given[0][0],)
        return given[0][1]

    def _table(self, given: Given, kind: Any, at: Path) -> Values:
        tables = cast("Sequence[Layer]", given)
        names = _distinct(name for _, table in reversed(tables) for name in table)
        joined: Values = {}
        for name in names:
            entries = [(source, table[name]) for source, table in tables if name in table]
            joined[name] = self._value(entries, kind, None, (*at, name))
        return joined

    def _tightened(self, given: Given, trait: Trait, default: Any, at: Path) -> Any:
        """None where a project alone says something, and that would loosen the default."""
        own = [pair for pair in given if pair[0] not in COMMITTED]
        if trait.merge == "tightest":
            own.sort(key=lambda pair: _looseness(trait, pair[1]))
        if trait.merge == "within" and not own:
            self.provenance[spelled(at)] = (given[0][0],)
            return given[0][1]
        base: tuple[Source | None, Any] = own[0] if own else (None, default)
        best = base
        for source, value in given:
            if source not in COMMITTED:
                continue
            if _looseness(trait, value) > _looseness(trait, base[1]):
                self._ignore(source, at, base[1])
            elif best[0] is None or _looseness(trait, value) < _looseness(trait, best[1]):
                best = (source, value)
        if best[0] is None:
            return None
        self.provenance[spelled(at)] = (best[0],)
        return best[1]

    def _modes(self, given: Given, at: Path) -> Given:
        """Without a project's modes that are freer than the one the person's own file names."""
        own = next((value for source, value in given if source is Source.USER), None)
        if own is None:
            return given
        kept = [
            pair for pair in given if pair[0] not in COMMITTED or freedom(pair[1]) <= freedom(own)
        ]
        for source, value in given:
            if (source, value) not in kept:
                self._ignore(source, at, own)
        return kept

    def _ignore(self, source: Source, at: Path, base: Any) -> None:
        holds = msgspec.json.encode(base).decode()
        message = f"is ignored: it is {holds}, and a project can only make it stricter"
        self.ignored.append(Ignored(source, at, message))


def _looseness(trait: Trait, value: Any) -> tuple[bool, float]:
    """Smaller is stricter; without a number there is no limit."""
    if trait.merge == "lower":
        return value is None, value or 0
    return False, trait.order.index(value)


def _distinct(items: Any) -> list[Any]:
    """Each once, in order; anybody may write a hundred thousand of them."""
    seen: dict[Any, Any] = {}
    for item in items:
        seen.setdefault(item if isinstance(item, str) else msgspec.json.encode(item), item)
    return list(seen.values())
