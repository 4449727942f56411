"""What runs need of the session: agents that work on calls, and the engine that runs a script.

A run knows agents by this alone. Whoever opens them tells how each ended, and never raises for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any, Protocol

import msgspec

from gatewright.agent.record.messages import Usage
from gatewright.agent.workflows.engine.wire import (
    BudgetNow,
    CallOptions,
    Inlined,
    Message,
    Nested,
    Settled,
)
from gatewright.agent.workflows.script.checked import Checked

MODEL, LIMIT, REFUSED, STOPPED = "model", "limit", "refused", "stopped"
SCHEMA, TIMEOUT, BUDGET = "schema", "timeout", "budget"


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """One call for one agent. With `goes_on` the agent of that id goes on where it was cut off."""

    run: str
    index: int
    agent: str  # the id it has
    prompt: str
    options: CallOptions
    label: str
    phase: str
    called: str  # how a question of it names it: the run, its phase, its label
    goes_on: bool = False
    moved: Callable[[], object]  # what it is at has changed


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """How an agent ended: with `value`, or with a `kind` of failure and a sentence."""

    ok: bool
    value: Any = None
    kind: str = ""
    why: str = ""
    usage: Usage = Usage()
    cost: float = 0.0
    files: Mapping[str, str] = {}
    worktree: str = ""
    refused: int = 0
    touched: bool = False  # a person spoke with it: nobody takes its answer for granted later


class Doing(msgspec.Struct, frozen=True):
    """What an agent is at."""

    state: str = "running"  # running, waiting, asks
    what: str = ""
    tokens: int = 0
    cost: float = 0.0


class Worker(Protocol):
    """An agent at work on a call."""

    @property
    def id(self) -> str: ...
    @property
    def path(self) -> str: ...
    @property
    def model(self) -> str: ...
    @property
    def began(self) -> asyncio.Event:
        """Set once its first answer begins, or it ended without one."""
        ...

    def doing(self) -> Doing: ...
    def last(self) -> tuple[str, ...]:
        """What it did last, a line each."""
        ...

    async def wait(self) -> Outcome: ...
    def stop(self, by: str) -> None: ...
    def say(self, text: str) -> None:
        """The person's words, at its next boundary. Raises GatewrightError."""
        ...


class About(msgspec.Struct, frozen=True):
    """What a call would be answered with now: a model, and a hash of the agent's definition."""

    model: str = ""
    kind: str = ""
    prefix: str = ""  # equal for calls whose requests begin alike


class AgentPort(Protocol):
    def about(self, options: CallOptions) -> About:
        """Raises CallProblem: no agent can be opened with these."""
        ...

    def new_id(self) -> str: ...
    async def start(self, work: Work) -> Worker: ...


class EnginePort(Protocol):
    """One worker; see `engine/engine.py`. A batch is all it said until it waits again."""

    async def begin(self, args: object, budget: BudgetNow) -> None: ...
    def batches(self) -> AsyncIterator[tuple[Message, ...]]: ...
    async def settle(self, settled: Settled | Inlined) -> None: ...
    async def close(self) -> None: ...


class CallProblem(Exception):
    """A call that cannot be made: it throws in the script. `kind` is options, tools, agents,
    budget, schema or workflow."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind = kind


OpenEngine = Callable[[Checked], Awaitable[EnginePort]]
FindNested = Callable[[Nested], Awaitable[Checked]]  # raises CallProblem
