"""Names in a definition that nothing has: tools in its lists, and types that it may start."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice

from gatewright.agent.agents.definitions.fields import nearest
from gatewright.agent.agents.kind import AgentKind

TOLD = 5  # names of one definition
Unknown = Callable[[str], str]  # what is wrong with the name of a tool; empty where there is it


def misnamed(kind: AgentKind, unknown: Unknown, kinds: Mapping[str, AgentKind]) -> tuple[str, ...]:
    """What the person is told of it; `kinds` are all there are, by folded names."""
    whose = str(kind.path) if kind.path is not None else kind.name
    return tuple(f"{whose}: {text}" for text in islice(_said(kind, unknown, kinds), TOLD))


def _said(kind: AgentKind, unknown: Unknown, kinds: Mapping[str, AgentKind]) -> Iterator[str]:
    for name in kind.tools or ():
        if why := unknown(name):
            yield f"tools: {why}"
    yield from forbids_nothing(kind, unknown)
    for name in kind.starts or ():
        if name.casefold() in kinds:
            continue
        if near := nearest(name, (each.name for each in kinds.values())):  # else it comes later
            yield f"tools: there is no type of agent {name[:60]}. Did you mean {near}?"


def forbids_nothing(kind: AgentKind, unknown: Unknown) -> Iterator[str]:
    """A denial of nothing is worse than an unknown tool: what it was to forbid is allowed."""
    for rule in kind.denied:
        if why := unknown(rule):
            yield f"disallowedTools: {rule[:60]} forbids nothing. {why}"
