"""Which servers there are, of all that is written down: the strongest source's whole entry counts.

One bad entry never drops the others, and nothing is ever put together from two sources.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

import msgspec

from gatewright.mcp.definitions import STRONGEST_FIRST, BadDefinition, Definition, Source, read
from gatewright.mcp.expansion import Expanded, expanded
from gatewright.mcp.names import folded, mark
from gatewright.mcp.network.patterns import address_fits

MOST_SERVERS = 500  # of one place: each of them may be a question
TOO_MANY = f"names more than {MOST_SERVERS} servers, so that none of them is used"


class Given(msgspec.Struct, frozen=True):
    """The `mcpServers` of one place; of one source the nearest place comes first."""

    source: Source
    where: str
    entries: Mapping[str, object]
    own: Mapping[str, str] = {}  # variables that these alone may name
    given: Mapping[str, str] = {}  # those that their programs find, too
    plain: bool = False  # their programs find no more of our environment than a project's


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
    variables: Callable[[Definition], Mapping[str, str]] = lambda _: {}  # that it may name


EVERY = Terms()


class Configured(msgspec.Struct, frozen=True):
    servers: tuple[Definition, ...] = ()
    faults: tuple[Fault, ...] = ()


def configured(given: Sequence[Given], terms: Terms = EVERY) -> Configured:
    """All of them, by name."""
    found: dict[str, Definition] = {}
    faults: list[Fault] = []
    for place in sorted(given, key=lambda each: STRONGEST_FIRST.index(each.source)):
        if len(place.entries) > MOST_SERVERS:
            faults.append(Fault(place.where, "*", TOO_MANY))
            continue
        for name, raw in place.entries.items():
            key = mark(name)
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
            definition = msgspec.structs.replace(
                definition, own=place.own, given=place.given, plain=place.plain
            )
            if place.source == "plugin" and (twin := _twin(definition, found.values())):
                faults.append(Fault(place.where, name, f"is hidden: {twin} is the same"))
                continue
            faults += [Fault(place.where, name, w, dropped=False) for w in definition.warnings]
            if why := _refused(definition, terms):
                faults.append(Fault(place.where, name, why))
                continue
            found[key] = definition
    return Configured(tuple(sorted(found.values(), key=lambda d: d.name)), tuple(faults))


def _twin(definition: Definition, stronger: Iterable[Definition]) -> str:
    """A server that the person has by themselves, and that is on, where it is the same one."""
    for each in stronger:
        if each.source == "plugin" or each.disabled or each.transport != definition.transport:
            continue
        if definition.remote and each.url == definition.url:
            return each.name
        if not definition.remote and (each.command, each.args) == (
            definition.command,
            definition.args,
        ):
            return each.name
    return ""


def _refused(definition: Definition, terms: Terms) -> str:
    """By what is written and by what comes of it: a variable leads around no list."""
    if not terms.denied and terms.allowed is None:
        return ""
    filled = expanded(definition, terms.variables(definition))
    if any(_written(definition, e) or _fits(definition, filled, e) for e in terms.denied):
        return "is denied by deniedMcpServers"
    if terms.allowed is not None and not any(
        _fits(definition, filled, each) for each in terms.allowed
    ):
        return "is not in allowedMcpServers"
    return ""


def _written(definition: Definition, entry: object) -> bool:
    return _fits(definition, expanded(definition, {}), entry)


def _fits(definition: Definition, filled: Expanded, entry: object) -> bool:
    if not isinstance(entry, dict):
        return False
    match cast("dict[str, Any]", entry):
        case {"serverName": str(name)}:
            return folded(name) == folded(definition.name)
        case {"serverCommand": [*argv]}:
            return definition.transport == "stdio" and argv == [filled.command, *filled.args]
        case {"serverUrl": str(pattern)}:
            return definition.remote and address_fits(filled.url, pattern)
        case _:
            return False
