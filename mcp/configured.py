"""Which servers there are, of all that is written down: the strongest source's whole entry counts.

One bad entry never drops the others, and nothing is ever put together from two sources.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, cast

import msgspec

from gatewright.mcp.definitions import STRONGEST_FIRST, BadDefinition, Definition, Source, read
from gatewright.mcp.names import folded


class Given(msgspec.Struct, frozen=True):
    """The `mcpServers` of one place; of one source the nearest place comes first."""

    source: Source
    where: str
    entries: Mapping[str, object]


class Fault(msgspec.Struct, frozen=True):
    """What is wrong with an entry; with `dropped` it does not count."""

    where: str
    name: str
    message: str
    dropped: bool = True

    def text(self) -> str:
        return f"{self.where}: mcpServers.{self.name}: {self.message}"


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """What settings say of servers: lists of `serverName`, `serverCommand`, `serverUrl`."""

    allowed: Sequence[object] | None = None  # None: every one
    denied: Sequence[object] = ()


EVERY = Terms()


class Configured(msgspec.Struct, frozen=True):
    servers: tuple[Definition, ...] = ()
    faults: tuple[Fault, ...] = ()


def configured(given: Sequence[Given], terms: Terms = EVERY) -> Configured:
    """All of them, by name."""
    found: dict[str, Definition] = {}
    faults: list[Fault] = []
    for place in sorted(given, key=lambda each: STRONGEST_FIRST.index(each.source)):
        for name, raw in place.entries.items():
            key = folded(name)
            if (stronger := found.get(key)) is not None:
                if stronger.name != name:
                    faults.append(Fault(place.where, name, f"looks like {stronger.name}"))
                elif not stronger.shadows and stronger.source != place.source:
                    found[key] = msgspec.structs.replace(stronger, shadows=place.source)
                continue
            try:
                definition = read(name, raw, place.source, place.where)
            except BadDefinition as error:
                faults.append(Fault(place.where, name, str(error)))
                continue
            faults += [Fault(place.where, name, w, dropped=False) for w in definition.warnings]
            if why := _refused(definition, terms):
                faults.append(Fault(place.where, name, why))
                continue
            found[key] = definition
    return Configured(tuple(sorted(found.values(), key=lambda d: d.name)), tuple(faults))


def _refused(definition: Definition, terms: Terms) -> str:
    if any(_fits(definition, entry) for entry in terms.denied):
        return "is denied by deniedMcpServers"
    if terms.allowed is not None and not any(_fits(definition, e) for e in terms.allowed):
        return "is not in allowedMcpServers"
    return ""


def _fits(definition: Definition, entry: object) -> bool:
    if not isinstance(entry, dict):
        return False
    match cast("dict[str, Any]", entry):
        case {"serverName": str(name)}:
            return folded(name) == folded(definition.name)
        case {"serverCommand": [*argv]}:
            return definition.transport == "stdio" and argv == [
                definition.command,
                *definition.args,
            ]
        case {"serverUrl": str(pattern)}:
            return definition.remote and fnmatchcase(definition.url.lower(), pattern.lower())
        case _:
            return False
