"""What happens to agents that other agents started."""

from __future__ import annotations

from typing import ClassVar, Literal, TypeAlias

import msgspec

from gatewright.agent.record.event_base import Event
from gatewright.agent.record.messages import Usage

AgentStatus: TypeAlias = Literal[
    "completed", "failed", "stopped", "budget_exhausted", "interrupted"
]  # fmt: skip
AgentPhase: TypeAlias = Literal["queued", "running", "waiting"]
ASKS = "asks"  # what an agent says of itself while it waits for the person


class AgentCost(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What one agent has used, or several of a kind."""

    path: str = ""
    kind: str = ""
    label: str = ""  # its name, or its task in a few words
    usage: Usage = Usage()
    cost: float = 0.0
    count: int = 1


class AgentStarted(Event, frozen=True, tag="agent_started"):
    """Again for the same child, with `resumed`, where one that had ended goes on."""

    child: str  # its path; the last part is its id
    kind: str
    prompt: str
    call_id: str = ""  # the call that started it; empty where no call did
    name: str = ""  # how others address it, where it has a name
    model: str = ""
    background: bool = False
    description: str = ""  # its task in a few words, for people
    resumed: bool = False
    mode: str = ""  # that its call asked for, and whether it asked for a tree of its own:
    isolation: str = ""  # both stay for every run


class AgentFinished(Event, frozen=True, tag="agent_finished"):
    """One for each start: what it said last, how it ended, and what it used since it started.

    `ms` and `tools` are of this run, and `waited` what of it the person took to answer; `usage` and
    `cost` are of all its runs, `below` what those used that it started. `worktree` is where its
    work is, if it was kept there.
    """

    child: str
    ok: bool
    report: str
    status: AgentStatus = "completed"
    usage: Usage = Usage()
    cost: float = 0.0
    ms: int = 0
    waited: int = 0
    tools: int = 0
    refused: int = 0  # calls that were not allowed
    call_id: str = ""
    name: str = ""
    background: bool = False
    worktree: str = ""
    branch: str = ""
    why: str = ""  # it did not get to its end: what was in the way
    below: tuple[AgentCost, ...] = ()
    stopped_by: str = ""  # "person": nobody else has it go on; as `Life.stopping`


class AgentProgressed(Event, frozen=True, tag="agent_progressed"):
    """What a child is at, a few times a second at most; only its last one matters.

    `phase` is where it is in its life: it waits for a place, for a person, or for its own work.
    `background`: who started it does not wait for it, or not any more. `seconds` are without what
    the person took to answer it or those it waits for; `still`: they are being asked.
    """

    durable: ClassVar[bool] = False
    child: str
    state: str  # waiting, answering, a tool's name
    target: str = ""
    tokens: int = 0
    cost: float = 0.0
    seconds: float = 0.0
    still: bool = False
    tools: int = 0
    phase: AgentPhase = "running"
    background: bool = False
    wait: float = 0.0  # seconds until the server wants its request
