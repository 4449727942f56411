"""A definition of an agent as it was found, and where."""

from __future__ import annotations

import msgspec

from gatewright.agent.agents.kind import AgentKind, Origin


class Found(msgspec.Struct, frozen=True):
    """One definition: `kind` None where it cannot be used. All texts are about its file."""

    source: str
    kind: AgentKind | None = None
    problems: tuple[str, ...] = ()  # the person is told
    notes: tuple[str, ...] = ()  # who looks closely is shown


class Standing(msgspec.Struct, frozen=True):
    """Where a definition stands, and what follows from that; `plugin` names it before a colon."""

    origin: Origin
    trusted: bool = True
    plugin: str = ""
