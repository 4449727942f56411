"""Agents that other agents start: opened for one task, followed under their own path, closed.

What such an agent may do and who wants it is decided elsewhere; opening one costs what its
conversation costs. Its path is its parent's and a name of its own: `main/a1`, `main/a1/b2`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import msgspec

from gatewright.agent.commands.outcome import Scope
from gatewright.agent.compact.compactor import CompactPorts
from gatewright.agent.compact.state import nothing
from gatewright.agent.errors import ProviderError, SessionError
from gatewright.agent.models.in_use import Models
from gatewright.agent.models.model import OpenModel
from gatewright.agent.providers.protocol import Piece, Provider, Request
from gatewright.agent.record.agent_costs import PAID
from gatewright.agent.record.conversation import Conversation
from gatewright.agent.record.events import (
    AgentFinished,
    AgentProgressed,
    AgentStarted,
    Envelope,
    ToolFinished,
    ToolStarted,
    UserMessage,
)
from gatewright.agent.record.messages import AssistantTurn, TextPart, Usage
from gatewright.agent.record.spending import Spending
from gatewright.agent.session.agent import Agent, Own, Shared
from gatewright.agent.session.inbox import Input, InputSource
from gatewright.agent.session.writers import Barriers, nothing_to_keep
from gatewright.agent.transcript.writer import TranscriptWriter
from gatewright.agent.turn.budget import Limiting
from gatewright.agent.turn.limits import Limits
from gatewright.agent.turn.stop import Stop
from gatewright.agent.turn.turns import Elsewhere
from gatewright.tools.access import MAIN, Where
from gatewright.tools.protocol import INTERRUPTED, Content, Ledger, TextContent

# Of the mode above it, that of an agent, and whether edits inside run besides.
Leading: TypeAlias = Callable[[str], tuple[str, bool]]
CLOSE_LIMIT = 5.0
BETWEEN = 0.25  # seconds from one word about a child to the next


class AgentSpec(msgspec.Struct, frozen=True, kw_only=True):
    """`model` opens the one it works with: by default the one its parent uses."""

    name: str  # the last part of its path, new in this session
    kind: str
    prompt: str
    source: InputSource = "agent"  # whose words the prompt is
    parent: str = MAIN
    where: Where | None = None  # the parent's by default
    model: Callable[[], OpenModel] | None = None
    turns: Elsewhere | None = None  # who runs its turns, in place of our loop over that model
    limits: Limits = Limits()
    mode: str = ""  # its own permission mode, never looser than its parent's; empty follows it
    freed: bool = False  # the person's own settings say the mode: it may be looser
    scope: Scope | None = None  # rules of its kind, and the only tools it may call
    stored: tuple[Envelope, ...] = ()  # what was said before, where it goes on
    about: Mapping[str, str] = {}  # what its file says of it
    told: tuple[str, ...] = ()  # besides the prompt, hidden as all that is not the person's
    announced: bool = False  # who starts it tells of its start and its end
    leads: Leading | None = None  # makes its mode of that above it, which `mode` tightens
    folder: Path | None = None  # where what it says is written: with the session's by default
    budgets: tuple[Limiting, ...] = ()  # besides the session's and its own
    called: str = ""  # how a question of it names it


class ChildPorts(msgspec.Struct, frozen=True, kw_only=True):
    """What every child has one of for itself."""

    ledger: Callable[[str], Ledger]  # by path
    backoff: Callable[[], Callable[[ProviderError, int], float | None]]
    # By path, with what the file says of it; None: nothing is stored.
    writer: Callable[[str, Mapping[str, str], Path | None], TranscriptWriter | None]
    barriers: Barriers
    enters: Callable[[str, AgentSpec], object]  # before its first turn; raises ValueError
    left: Callable[[str], None]  # nothing of it is judged any more


class Borrowed:
    """A provider that its owner closes."""

    def __init__(self, provider: Provider) -> None:
        self._provider = provider

    @property
    def name(self) -> str:
        return self._provider.name

    def stream(self, request: Request) -> AsyncGenerator[Piece]:
        return self._provider.stream(request)

    async def close(self) -> None:
        """It goes on for whoever it belongs to."""


class AgentRun:
    """An agent at work, for whoever started it."""

    def __init__(
        self, agent: Agent, close: Callable[[AgentRun], Awaitable[None]], *, announced: bool
    ) -> None:
        self._agent = agent
        self._close = close
        self.announced = announced
        self.finished: AgentFinished | None = None  # what its own file ends with
        self.stop = Stop.ABORTED_STREAMING  # how its last turn ended

    @property
    def path(self) -> str:
        return self._agent.path

    def send(self, text: str, *, source: InputSource = "agent") -> None:
        """One more message for it, at the next boundary of its turn."""
        if source == "person":
            self._agent.submit(text, typed="")
        else:
            self._agent.tell(text, source=source)

    @property
    def busy(self) -> bool:
        return self._agent.runner.busy

    @property
    def waiting(self) -> int:
        """How many messages it has not taken up yet."""
        return self._agent.runner.waiting

    async def halt(self, seconds: float) -> None:
        """Stop its turn, and wait so long for that at most."""
        await self._agent.runner.halt(seconds)

    async def rest(self) -> None:
        """No turn comes any more: whatever ran them is gone, and changes nothing where it works."""
        await self._agent.rest()

    def interrupt(self) -> bool:
        return self._agent.runner.interrupt()

    async def idle(self) -> Stop:
        """Wait until it has nothing to do; how it came to that."""
        await self._agent.runner.idle()
        return self.stop

    @property
    def report(self) -> str:
        """The text of its last answer."""
        for turn in reversed(self._agent.talk.view()):
            if isinstance(turn, AssistantTurn):
                return "".join(part.text for part in turn.parts if isinstance(part, TextPart))
        return ""

    @property
    def cost(self) -> float:
        return self._agent.spending.cost

    @property
    def usage(self) -> Usage:
        return self._agent.spending.usage

    async def close(self) -> None:
        """End it; what it said is on disk when this returns."""
        await self._close(self)


class Children:
    """Opens agents below the one the person talks to, and knows which live."""

    def __init__(self, shared: Shared, ports: ChildPorts, agents: dict[str, Agent]) -> None:
        self._shared = shared
        self._ports = ports
        self._agents = agents
        self._runs: dict[str, AgentRun] = {}
        self._told: dict[str, float] = {}  # when it was said last what a child is at
        self._writing: dict[str, tuple[TranscriptWriter, asyncio.Task[None]]] = {}

    def spawn(self, spec: AgentSpec) -> AgentRun:
        """Raises SessionError where the name is taken, ValueError where there is no such mode."""
        parent, path = self._agents.get(spec.parent), f"{spec.parent}/{spec.name}"
        if parent is None and spec.stored:  # who started it once has ended
            parent = self._agents.get(MAIN)
        if parent is None or path in self._agents or "/" in spec.name or not spec.name:
            raise SessionError(f"No agent can be started as {path}.")
        if spec.mode or spec.scope is not None or spec.leads is not None:
            self._ports.enters(path, spec)
        writer = self._ports.writer(path, spec.about, spec.folder)
        own = self._own(spec, parent, path, writer)
        hub = self._shared.frame.journal.hub(path)
        hub.restore(spec.stored)
        agent = self._agents[path] = Agent(self._shared, own)
        run = self._runs[path] = AgentRun(agent, self._ended, announced=spec.announced)
        if writer is not None:
            following = hub.subscribe(since=len(spec.stored))
            task = asyncio.create_task(writer.run(following), name=f"transcript of {path}")
            self._writing[path] = writer, task
            self._ports.barriers.add(path, writer.barrier)
        if not spec.announced:
            parent.publish(AgentStarted(child=path, kind=spec.kind, prompt=spec.prompt))
        for call in agent.talk.dangling():  # cut off when it ended the last time
            lost = (TextContent(INTERRUPTED),)
            ended = ToolFinished(call_id=call.id, ok=False, content=lost, summary="interrupted")
            agent.publish(ended)
        for text in spec.told:
            agent.publish(UserMessage(content=(TextContent(text),), hidden=True))
        agent.submit(spec.prompt, typed="", source=spec.source)
        return run

    def run(self, path: str) -> AgentRun | None:
        """The one that lives under this path."""
        return self._runs.get(path)

    def saw(self, envelope: Envelope) -> None:
        """What a child is at goes up to who watches its parents, a few times a second."""
        event = envelope.event
        if isinstance(event, PAID):
            main = self._agents[MAIN]
            main.publish(main.spent)  # it counts for the session
        run = self._runs.get(envelope.agent)
        if run is None or run.announced or not isinstance(event, ToolStarted):
            return
        now = self._shared.frame.clock.monotonic()
        if now - self._told.get(envelope.agent, -1.0) < BETWEEN:
            return
        self._told[envelope.agent] = now
        agent = self._agents[envelope.agent]
        doing = AgentProgressed(
            child=envelope.agent, state=event.verb, target=event.target, cost=agent.spending.cost
        )
        agent.publish(doing)

    async def close(self) -> None:
        """End all that still live, the deepest first."""
        for path in sorted(self._runs, key=lambda path: -path.count("/")):
            if (run := self._runs.get(path)) is not None:
                await run.close()

    def _own(
        self, spec: AgentSpec, parent: Agent, path: str, writer: TranscriptWriter | None
    ) -> Own:
        talk, ledger, shared = Conversation(), self._ports.ledger(path), self._shared
        spending = Spending()
        spending.restore(envelope.event for envelope in spec.stored)
        for envelope in spec.stored:
            talk.apply(envelope.event)
        room = CompactPorts(
            talk=talk,
            emit=lambda event: shared.frame.journal.publish(event, path),
            state=nothing,
            forget=ledger.forget_shown,
            clock=shared.frame.clock,
            listeners=shared.frame.listeners,
            agent=path,
        )
        return Own(
            path=path,
            where=spec.where or parent.where,
            talk=talk,
            models=Models(_opening(spec, parent), "", ()),
            ledger=ledger,
            retry_in=self._ports.backoff(),
            room=room,
            barrier=writer.barrier if writer is not None else nothing_to_keep,
            limits=spec.limits,
            turns=spec.turns,
            budgets=spec.budgets,
            called=spec.called,
            spending=spending,
            opening=lambda: self._begins(path, spec.kind),
            brought=_nothing_brought,
            ended=lambda stop: self._stopped(path, stop),
        )

    async def _begins(self, path: str, kind: str) -> None:
        """Before its first turn: others may add to what it is told."""
        if (moments := self._shared.frame.moments) is None:
            return
        from gatewright.tools.moments import AgentStarts  # noqa: PLC0415  only where somebody listens

        verdict = await moments.at(AgentStarts(agent=path, child=path, kind=kind))
        self._agents[path].advise(verdict)

    def _stopped(self, path: str, stop: Stop) -> None:
        if (run := self._runs.get(path)) is not None:
            run.stop = stop

    async def _ended(self, run: AgentRun) -> None:
        path = run.path
        agent = self._agents.pop(path, None)
        if agent is None:
            return
        await agent.close()
        await agent.models.close()
        self._runs.pop(path, None)
        self._told.pop(path, None)
        parent = self._agents.get(path.rpartition("/")[0])
        if parent is not None and not run.announced:
            ok = run.stop is Stop.COMPLETED
            parent.publish(AgentFinished(child=path, ok=ok, report=run.report))
        if run.finished is not None:
            self._shared.frame.journal.keep(run.finished, path)
        self._shared.frame.journal.forget(path)
        self._ports.left(path)
        self._ports.barriers.drop(path)
        if (writing := self._writing.pop(path, None)) is not None:
            writer, task = writing
            await asyncio.wait([task], timeout=CLOSE_LIMIT)
            writer.close()


def _opening(spec: AgentSpec, parent: Agent) -> Callable[[str, str], OpenModel]:
    """Opens the child's model; one that it shares with its parent stays the parent's to close."""

    def opened(name: str, effort: str) -> OpenModel:
        del name, effort
        if spec.model is not None:
            return spec.model()
        current = parent.models.current
        if current is None:
            raise SessionError("The agent that starts this one has no model yet.")
        return msgspec.structs.replace(current, provider=Borrowed(current.provider))

    return opened


async def _nothing_brought(item: Input, where: Where) -> Sequence[tuple[Content, ...]]:
    del item, where
    return ()
