"""What happens to agents that other agents started."""

from __future__ import annotations

from typing import ClassVar

from gatewright.agent.record.event_base import Event


class AgentStarted(Event, frozen=True, tag="agent_started"):
    child: str
    kind: str
    prompt: str


class AgentFinished(Event, frozen=True, tag="agent_finished"):
    child: str
    ok: bool
    report: str


class AgentProgressed(Event, frozen=True, tag="agent_progressed"):
    """What a child is at, a few times a second at most; only its last one matters."""

    durable: ClassVar[bool] = False
    child: str
    state: str  # waiting, answering, a tool's name
    target: str = ""
    tokens: int = 0
    cost: float = 0.0
    seconds: float = 0.0
