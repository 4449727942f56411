"""What happens to workflows: a run begins, moves, ends. Its agents are told of in no other way."""

from __future__ import annotations

from typing import ClassVar, Literal, TypeAlias

import msgspec

from gatewright.agent.record.event_base import Event
from gatewright.agent.record.events_of_agents import AgentCost
from gatewright.agent.record.messages import Usage

RunStatus: TypeAlias = Literal[
    "pending", "running", "paused", "done", "failed", "stopped", "interrupted"
]  # fmt: skip
CallState: TypeAlias = Literal[
    "queued", "held", "running", "waiting", "asks", "done", "failed", "replayed", "stopped"
]  # fmt: skip


class PhaseNow(msgspec.Struct, frozen=True, omit_defaults=True):
    """One group of calls, and what they have come to."""

    title: str
    total: int = 0
    live: int = 0
    ok: int = 0
    failed: int = 0
    replayed: int = 0
    tokens: int = 0
    cost: float = 0.0
    seconds: float = 0.0


class CallNow(msgspec.Struct, frozen=True, omit_defaults=True):
    """One call of a run as it is now; `index` is its number in the run, from one."""

    index: int
    label: str
    phase: str
    state: CallState
    agent: str = ""  # the id of the agent that works or worked on it
    model: str = ""
    tokens: int = 0
    cost: float = 0.0
    seconds: float = 0.0
    doing: str = ""  # what it is at, or what came of it, in a line
    error: str = ""  # how it failed: model, limit, refused, stopped, schema, timeout, budget


class WorkflowStarted(Event, frozen=True, tag="workflow_started"):
    """Again for the same run, with `resumed`, where one that had ended goes on."""

    run: str
    name: str
    task: str = ""  # the id of its job
    call_id: str = ""  # the call that started it; empty where a person did
    title: str = ""  # for people; empty: the description
    description: str = ""
    script: str = ""  # where it is written down
    phases: tuple[str, ...] = ()
    args: str = ""  # as JSON, cut
    resumed: bool = False


class WorkflowProgressed(Event, frozen=True, tag="workflow_progressed"):
    """How a run stands, a few times a second at most; only the last one matters.

    `calls` are those that changed since the one before, at most 64.
    """

    durable: ClassVar[bool] = False
    run: str
    name: str
    status: RunStatus = "running"
    phase: str = ""  # of the newest call
    total: int = 0  # calls so far
    done: int = 0  # that have ended, however
    live: int = 0
    failed: int = 0
    replayed: int = 0
    asks: int = 0  # agents that wait for the person
    tokens: int = 0
    cost: float = 0.0
    seconds: float = 0.0
    phases: tuple[PhaseNow, ...] = ()
    calls: tuple[CallNow, ...] = ()


class UltracodeSwitched(Event, frozen=True, tag="ultracode"):
    """From now on the model decides by itself which tasks deserve a workflow, or no more."""

    durable: ClassVar[bool] = False
    on: bool


class WorkflowEnded(Event, frozen=True, tag="workflow_ended"):
    """One for each start: how it ended, and what its agents used that worked for it."""

    run: str
    name: str
    status: RunStatus
    task: str = ""
    call_id: str = ""
    why: str = ""  # in a sentence, where it is not done
    result: str = ""  # what it returned, cut
    script: str = ""
    ok: int = 0
    failed: int = 0
    replayed: int = 0
    usage: Usage = Usage()
    cost: float = 0.0
    ms: int = 0
    costs: tuple[AgentCost, ...] = ()  # by phase and model
