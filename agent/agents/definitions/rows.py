"""Kinds of agents as people look at them: which there are, whose, and what became of the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, TypeAlias

import msgspec

from gatewright.agent.agents.definitions.book import KindBook
from gatewright.agent.agents.kind import AgentKind

State: TypeAlias = Literal["offered", "off", "withheld", "shadowed"]


class KindRow(msgspec.Struct, frozen=True, kw_only=True):
    """One definition; `why` is empty for one that is offered."""

    name: str
    source: str
    path: str
    state: State
    why: str
    description: str
    model: str
    tools: tuple[str, ...] | None
    denied: tuple[str, ...]
    mode: str
    effort: str
    memory: str
    background: bool
    isolation: str
    acts: tuple[str, ...]  # what of it runs by itself: hooks, servers, another program


def rows_of(book: KindBook) -> Sequence[KindRow]:
    """Those that count by name, then those that do not."""
    now = book.now()
    kinds = sorted(now.by_name.values(), key=lambda kind: kind.name)
    rows = [_row(kind, *_state(kind, book.refusal(kind.name))) for kind in kinds]
    rows += [_row(each.kind, "shadowed", each.why) for each in now.shadowed]
    return rows


def _state(kind: AgentKind, refusal: str) -> tuple[State, str]:
    if not refusal:
        return "offered", ""
    return ("withheld" if kind.withheld else "off"), refusal


def _row(kind: AgentKind, state: State, why: str) -> KindRow:
    return KindRow(
        name=kind.name,
        source=kind.origin,
        path=str(kind.path or ""),
        state=state,
        why=why,
        description=kind.description,
        model=kind.model or ("small" if kind.prefers_small else "inherit"),
        tools=kind.tools,
        denied=kind.denied,
        mode=kind.mode,
        effort=kind.effort,
        memory=kind.memory,
        background=kind.background,
        isolation=kind.isolation,
        acts=tuple(_acts(kind)),
    )


def _acts(kind: AgentKind) -> Iterator[str]:
    if kind.hooks:
        yield f"hooks at {', '.join(kind.hooks)}"
    if kind.inline_servers:
        yield f"MCP servers of its own: {', '.join(kind.inline_servers)}"
    if kind.acp is not None:
        yield f"another agent does its work: {' '.join((kind.acp.command, *kind.acp.args))[:200]}"


def facts_of(row: KindRow) -> tuple[tuple[str, str], ...]:
    """What there is to say of one, in lines with a name each."""
    pairs = (
        ("source", f"{row.source} {row.path}".strip()),
        ("state", f"{row.state}: {row.why}" if row.why else row.state),
        ("model", row.model),
        ("tools", tools_said(row)),
        ("mode", row.mode),
        ("effort", row.effort),
        ("memory", row.memory),
        ("isolation", row.isolation),
        ("background", "always" if row.background else ""),
        ("acts", "; ".join(row.acts)),
    )
    return tuple((name, value) for name, value in pairs if value)


def tools_said(row: KindRow) -> str:
    named = "all" if row.tools is None else ", ".join(row.tools) or "none"
    return f"{named}, but not {', '.join(row.denied)}" if row.denied else named
