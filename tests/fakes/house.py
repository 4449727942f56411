"""A session of real parts around a scripted provider and a fake executor, for tests of the core."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec

from gatewright.agent.client.port import Taken
from gatewright.agent.commands.outcome import Scope
from gatewright.agent.compact.state import nothing
from gatewright.agent.errors import FailureKind, ProviderError
from gatewright.agent.extensions.contribution import Contribution
from gatewright.agent.models.choices import ModelBook
from gatewright.agent.models.model import OpenModel
from gatewright.agent.record.agent_costs import AgentCosts
from gatewright.agent.record.clock import Clock, SystemClock
from gatewright.agent.record.conversation import Conversation
from gatewright.agent.record.ids import new_id
from gatewright.agent.record.journal import Journal
from gatewright.agent.record.messages import Usage
from gatewright.agent.session.agent import CallPorts
from gatewright.agent.session.children import ChildPorts
from gatewright.agent.session.frame import Frame
from gatewright.agent.session.session import Session
from gatewright.agent.session.writers import Barriers
from gatewright.agent.turn.limits import Limits
from gatewright.agent.turn.listeners import Listeners
from gatewright.agent.turn.request import RequestFrame
from gatewright.tools.access import MAIN, Where
from gatewright.tools.blocks import Block, Text
from gatewright.tools.files.fs import ReadLedger
from gatewright.tools.interact import Weighed
from gatewright.tools.moments import Moments
from gatewright.tools.protocol import TextContent, ToolContext
from tests.fakes.executor import FakeExecutor, context
from tests.fakes.scripted_provider import ScriptedProvider

Retry = Callable[[ProviderError, int], float | None]
UNLIMITED = Limits()
RETRIED = {FailureKind.RATE, FailureKind.OVERLOADED, FailureKind.TRANSPORT}


class FakeModes:
    names = ("default", "acceptEdits", "plan")

    def __init__(self) -> None:
        self.mode = "default"

    def current(self) -> str:
        return self.mode

    def set(self, name: str) -> str:
        if name not in self.names:
            raise ValueError(f"There is no mode {name}.")
        self.mode = name
        return name

    def caution(self, name: str) -> str:
        return "It asks nothing." if name == "reckless" else ""

    def plan_file(self) -> Path | None:
        return None

    def after(self, mode: str) -> str:
        return self.names[(self.names.index(mode) + 1) % len(self.names)]

    def rows(self) -> Sequence[tuple[str, str]]:
        return [(name, "") for name in self.names]


class FakeRules:
    def __init__(self) -> None:
        self.scoped: tuple[tuple[str, ...], ...] = ()

    def table(self) -> Sequence[Block]:
        return ()

    def why(self, number: int) -> Sequence[Block]:
        return (Text(f"because of {number}"),)

    def add(self, behavior: str, rule: str) -> str:
        return f"{behavior} {rule}"

    def remove(self, rule: str) -> str:
        return rule

    def weigh(self, call_id: str, rules: Sequence[str]) -> Weighed:
        return Weighed(problem=f"{call_id}: {', '.join(rules)}")

    def scope(self, scope: Scope, agent: str = MAIN, *, joins: bool = False) -> Sequence[str]:
        del joins
        self.scoped = (scope.allow, scope.ask, scope.deny)
        return ()


def retry_in(error: ProviderError, attempt: int) -> float | None:
    """Three attempts, without waiting."""
    return 0.0 if error.kind in RETRIED and attempt < 3 else None


def price(usage: Usage) -> float:
    return (usage.input + usage.output) / 1000


def open_scripted(provider: ScriptedProvider, name: str, effort: str) -> OpenModel:
    frame = RequestFrame(
        model=name, effort=effort, system=("system",), tools=(), max_output=1000, raised_output=4000
    )
    return OpenModel(name=name, provider=provider, frame=frame, window=100_000, price=price)


CHILDREN = ChildPorts(
    ledger=lambda _: ReadLedger(),
    backoff=lambda: retry_in,
    writer=lambda path, about, folder: None,
    barriers=Barriers(),
    enters=lambda path, spec: None,
    left=lambda path: None,
)


async def no_barrier() -> None:
    """Nothing is stored in this test."""


def recalled(session: Session) -> list[str]:
    """Take back what waits; the texts of it."""
    taken: list[Taken] = []
    session.take_back(taken.extend)
    return [part.text for content in taken for part in content if isinstance(part, TextContent)]


class House(msgspec.Struct, frozen=True):
    """What a test wants to look at beside the session."""

    session: Session
    provider: ScriptedProvider
    executor: FakeExecutor
    talk: Conversation
    modes: FakeModes
    journal: Journal


def build(
    script: str,
    *,
    executor: FakeExecutor | None = None,
    limits: Limits = UNLIMITED,
    clock: Clock | None = None,
    root: Path = Path("/project"),
    interactive: bool = False,
    fallback_names: tuple[str, ...] = (),
    open_model: Callable[[str, str], OpenModel] | None = None,
    retry_in: Retry = retry_in,
    attempts: int = 3,
    remains: Callable[[int], Awaitable[Sequence[str]]] = nothing,
    models: ModelBook | None = None,
    moments: Moments | None = None,
    rules: FakeRules | None = None,
) -> House:
    provider = ScriptedProvider.parse(script)
    executor = executor or FakeExecutor()
    clock = clock or SystemClock()
    talk, modes = Conversation(), FakeModes()

    def full_context(ports: CallPorts) -> ToolContext:
        return msgspec.structs.replace(
            context(root),
            where=ports.where,
            ask=ports.ask,
            progress=ports.progress,
            move=ports.move,
        )

    costs = AgentCosts()
    frame = Frame(
        id=new_id(),
        where=Where(root, root, Path("/home/somebody")),
        journal=Journal(clock=clock.time, new_id=new_id, stamp=costs.stamped),
        costs=costs,
        talk=talk,
        clock=clock,
        modes=modes,
        rules=rules or FakeRules(),
        executor=executor,
        ledger=ReadLedger(),
        children=CHILDREN,
        context=full_context,
        open_model=open_model or (lambda name, effort: open_scripted(provider, name, effort)),
        model_name="script",
        retry_in=retry_in,
        attempts=attempts,
        barrier=no_barrier,
        limits=limits,
        interactive=interactive,
        fallback_names=fallback_names,
        remains=remains,
        listeners=Listeners(moments),
    )
    brought = Contribution(parts=() if models is None else (models,))
    return House(Session(frame, (brought,)), provider, executor, talk, modes, frame.journal)


@asynccontextmanager
async def house(
    script: str,
    *,
    executor: FakeExecutor | None = None,
    limits: Limits = UNLIMITED,
    clock: Clock | None = None,
    interactive: bool = False,
    fallback_names: tuple[str, ...] = (),
    open_model: Callable[[str, str], OpenModel] | None = None,
    retry_in: Retry = retry_in,
    attempts: int = 3,
    remains: Callable[[int], Awaitable[Sequence[str]]] = nothing,
    models: ModelBook | None = None,
    moments: Moments | None = None,
    rules: FakeRules | None = None,
) -> AsyncGenerator[House]:
    """A session that is closed again, whatever the test does."""
    built = build(
        script,
        executor=executor,
        limits=limits,
        clock=clock,
        interactive=interactive,
        fallback_names=fallback_names,
        open_model=open_model,
        retry_in=retry_in,
        attempts=attempts,
        remains=remains,
        models=models,
        moments=moments,
        rules=rules,
    )
    try:
        yield built
    finally:
        await built.session.close()
