"""What happens to agents that other agents started."""

from __future__ import annotations

from typing import ClassVar

from gatewright.agent.record.event_base import Event
from gatewright.agent.record.messages import Usage


class AgentStarted(Event, frozen=True, tag="agent_started"):
    child: str
    kind: str
    prompt: str
    call_id: str = ""
    name: str = ""
    model: str = ""
    background: bool = False
    description: str = ""


class AgentFinished(Event, frozen=True, tag="agent_finished"):
    child: str
    ok: bool
    report: str
    status: str = ""  # completed, failed, stopped, budget_exhausted, interrupted
    usage: Usage = Usage()
    cost: float = 0.0
    ms: int = 0
    tools: int = 0
    refused: int = 0
    call_id: str = ""
    name: str = ""
    background: bool = False
    worktree: str = ""
    branch: str = ""


class AgentProgressed(Event, frozen=True, tag="agent_progressed"):
    """What a child is at, a few times a second at most; only its last one matters."""

    durable: ClassVar[bool] = False
    child: str
    state: str  # waiting, answering, a tool's name
    target: str = ""
    tokens: int = 0
    cost: float = 0.0
    seconds: float = 0.0
    tools: int = 0
