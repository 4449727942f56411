"""Join checked layers into one: the nearest scalar wins, lists add up, sticky values stay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, cast, get_args, get_origin

import msgspec
from msgspec import structs

from gatewright.agent.settings.coerce import strip, trait_of
from gatewright.agent.settings.schema import Settings, Source

Layer: TypeAlias = tuple[Source, Mapping[str, Any]]
Provenance: TypeAlias = dict[str, tuple[Source, ...]]


def merge(layers: Sequence[Layer]) -> tuple[dict[str, Any], Provenance]:
    """Layers come strongest first. Provenance names the layers behind each dotted key."""
    provenance: Provenance = {}
    return _section(layers, Settings, "", provenance), provenance


def _section(
    layers: Sequence[Layer], kind: type[msgspec.Struct], at: str, provenance: Provenance
) -> dict[str, Any]:
    joined: dict[str, Any] = {}
    for field in structs.fields(kind):
        name = field.encode_name
        given = [(source, values[name]) for source, values in layers if name in values]
        if given:
            joined[name] = _value(given, field.type, f"{at}{name}", provenance)
    return joined


def _value(given: Sequence[tuple[Source, Any]], kind: Any, at: str, provenance: Provenance) -> Any:
    bare, trait = strip(kind), trait_of(kind)
    if isinstance(bare, type) and issubclass(bare, msgspec.Struct):
        return _section(given, bare, f"{at}.", provenance)
    if get_origin(bare) is dict:
        return _table(given, get_args(bare)[1], at, provenance)
    if get_origin(bare) is tuple and not trait.nearest:
        provenance[at] = tuple(source for source, items in given if items)
        return _distinct(item for _, items in given for item in items)
    if trait.sticky is not None:
        given = [pair for pair in given if pair[1] == trait.sticky] or given
    provenance[at] = (given[0][0],)
    return given[0][1]


def _table(
    given: Sequence[tuple[Source, Any]], kind: Any, at: str, provenance: Provenance
) -> dict[str, Any]:
    tables = cast("Sequence[tuple[Source, dict[str, Any]]]", given)
    names = _distinct(name for _, table in reversed(tables) for name in table)
    joined: dict[str, Any] = {}
    for name in names:
        entries = [(source, table[name]) for source, table in tables if name in table]
        joined[name] = _value(entries, kind, f"{at}.{name}", provenance)
    return joined


def _distinct(items: Any) -> list[Any]:
    seen: list[Any] = []
    for item in items:
        if item not in seen:
            seen.append(item)
    return seen
