"""One conversation that is worked on: what it says, hears, remembers and may use up is its own.

Rules, questions to the person, jobs and the journal are the session's; every agent of it, the one
the person talks to and those that others start, is one of these.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from gatewright.agent.commands.outcome import Scope
from gatewright.agent.compact.compactor import Compactor, CompactPorts
from gatewright.agent.errors import GatewrightError, ProviderError
from gatewright.agent.models.in_use import Models
from gatewright.agent.models.model import OpenModel
from gatewright.agent.record.agent_costs import AgentCosts
from gatewright.agent.record.conversation import Conversation
from gatewright.agent.record.events import (
    AnyEvent,
    AssistantMessage,
    AttemptPaid,
    Cleared,
    Compacted,
    InputRefused,
    ModeChanged,
    ModelChanged,
    Moved,
    Noticed,
    Rewound,
    ToolProgressed,
    TurnEnded,
    UsageChanged,
    UserMessage,
)
from gatewright.agent.record.ids import new_id
from gatewright.agent.record.spending import Spending
from gatewright.agent.session.broker import Broker
from gatewright.agent.session.inbox import Input, InputSource, Priority
from gatewright.agent.session.jobs import SessionJobs
from gatewright.agent.session.runner import Runner, RunnerPorts
from gatewright.agent.turn.batch_ports import BatchPorts
from gatewright.agent.turn.budget import Budget, Limiting
from gatewright.agent.turn.limits import Limits
from gatewright.agent.turn.model_turns import ModelPorts, ModelTurns
from gatewright.agent.turn.stop import Stop
from gatewright.agent.turn.turns import Elsewhere, Ground, Turn, Turns
from gatewright.tools.access import MAIN, Where
from gatewright.tools.interact import Answer, Ask
from gatewright.tools.protocol import (
    Content,
    Jobs,
    Ledger,
    Progress,
    TextContent,
    ToolContext,
)

if TYPE_CHECKING:
    from gatewright.agent.session.frame import Frame  # it names what is here
    from gatewright.tools.moments import Verdict


class CallPorts(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent itself gives a running call; the rest of its context is the session's."""

    agent: str
    call_id: str
    where: Where
    ledger: Ledger
    ask: Callable[[Ask], Awaitable[Answer]]
    stood: Callable[[float], None]
    progress: Callable[[Progress], None]
    move: Callable[[Path], None]
    jobs: Jobs


class Shared(msgspec.Struct, frozen=True):
    """What all agents of a session have in common."""

    frame: Frame
    broker: Broker
    jobs: SessionJobs
    budget: Budget  # of all agents together


def _nobody(item: Input) -> None:
    """Nobody follows what is taken up."""
    del item


async def _as_it_is(item: Input) -> None:
    """Nothing has to be made of it first."""
    del item


class Own(msgspec.Struct, frozen=True, kw_only=True):
    """What one agent begins with and shares with no other."""

    path: str
    where: Where
    talk: Conversation
    models: Models
    ledger: Ledger
    retry_in: Callable[[ProviderError, int], float | None]
    room: CompactPorts
    barrier: Callable[[], Awaitable[None]]
    limits: Limits = Limits()
    budgets: tuple[Limiting, ...] = ()  # besides the session's and its own
    called: str = ""  # how a question of it names it
    spending: Spending = msgspec.field(default_factory=Spending)
    opening: Callable[[], Awaitable[None]]  # awaited before the first turn
    brought: Callable[[Input, Where], Awaitable[Sequence[tuple[Content, ...]]]]
    begins: Callable[[Input], Awaitable[InputRefused | None]] = _as_it_is
    taken: Callable[[Input], None] = _nobody  # an input is taken up
    ended: Callable[[Stop], None] | None = None
    others: AgentCosts | None = None  # whose use counts as its own, too
    turns: Elsewhere | None = None  # who runs its turns, in place of our loop


class Agent:
    """Owns inbox, conversation and the task that runs its turns."""

    def __init__(self, shared: Shared, own: Own) -> None:
        self.path, self.talk, self.where = own.path, own.talk, own.where
        self.models, self.spending = own.models, own.spending
        self._shared, self._own = shared, own
        self.compactor = Compactor(own.room)
        self._waited: dict[str, float] = {}
        self._budget = self._own_budget()
        self._requests = 0  # of the turns of this process
        self._ahead: asyncio.Task[None] | None = None
        self._turns = self._who_runs()
        self.runner = Runner(
            RunnerPorts(
                publish=self.publish,
                arrived=self._arrived,
                brought=lambda item: own.brought(item, self.where),
                ready=self._ready,
                opening=own.opening,
                taken=own.taken,
            )
        )

    @property
    def spent(self) -> UsageChanged:
        """What was used so far, in what is stored too."""
        others, anything = self._own.others, self.spending.cost or self.spending.usage.context
        spent = self.spending.changed(self.models.window if anything else 0)
        if others is None:
            return spent
        usage, cost = spent.usage.plus(others.usage), spent.cost + others.cost
        return msgspec.structs.replace(spent, usage=usage, cost=cost)

    @property
    def requests_left(self) -> int | None:
        """Of those that all turns may make together; None: each turn has its own."""
        limits = self._own.limits
        if not (limits.together and limits.requests):
            return None
        return max(0, limits.requests - self._requests)

    def publish(self, event: AnyEvent) -> None:
        self._shared.frame.journal.publish(event, self.path)

    def saw(self, event: AnyEvent) -> None:
        """Every event of this agent, before anybody else has it."""
        self.talk.apply(event)
        self.spending.apply(event)
        match event:
            case ModeChanged():
                self.models.mode_changed()
            case Cleared():
                self.models.renew()
                self.publish(self.spent)
            case TurnEnded(requests=requests):
                self._requests += requests
            case AssistantMessage() | AttemptPaid() | Compacted() | Rewound():
                self.publish(self.spent)
            case _:
                pass

    def submit(
        self,
        text: str,
        attachments: tuple[Content, ...] = (),
        *,
        typed: str | None = None,
        scope: Scope | None = None,
        source: InputSource = "person",
        id: str = "",
    ) -> str:
        """Queue input for the model; returns its id. Emits UserMessage once it is taken up.

        `typed` is what of it the person wrote, None for all: only that names files to attach.
        """
        own = typed if typed is not None else text if scope is None else ""
        brought = scope.attachments if scope is not None else ()
        content = (TextContent(text), *attachments, *brought)
        item = Input(id or new_id(), content, typed=own, scope=scope, source=source)
        self.runner.put(item)
        return item.id

    def tell(self, text: str, *, wakes: bool = True, source: InputSource = "program") -> None:
        """A notice for the model: behind what was typed, but it may wake an idle agent."""
        content = (TextContent(text),)
        late = Priority.LATER
        self.runner.put(Input(new_id(), content, late, hidden=True, wakes=wakes, source=source))

    def typing(self) -> None:
        """The person writes: what a request needs is made ready meanwhile. Tells nothing."""
        if not self.runner.busy and (self._ahead is None or self._ahead.done()):
            self._ahead = asyncio.create_task(self._get_ready(), name="ready for a request")

    async def _get_ready(self) -> None:
        await self.runner.opened.wait()  # whose project it is may be asked first
        await self.models.ahead()

    async def needed(self) -> OpenModel:
        before = self.models.name
        opened = await self.models.needed()
        if not before and self.models.name:
            self.publish(ModelChanged(model=self.models.name))
        if note := self.models.note(opened):
            self.publish(Noticed(text=note, tone="warning"))
        return opened

    async def rest(self) -> None:
        """No turn comes any more: whatever ran them is gone."""
        await self._turns.close()

    async def close(self) -> None:
        """Stop the turn, which still settles its calls, and whatever ran the turns."""
        if self._ahead is not None:
            self._ahead.cancel()
            await asyncio.wait([self._ahead])
        await self.runner.close()
        await self._turns.close()

    async def _ready(self) -> Callable[[], Awaitable[None]]:
        try:
            return partial(self._run_turn, await self._turns.ready())
        except GatewrightError:
            self._over(Stop.PROVIDER_AUTH)
            raise

    async def _run_turn(self, turn: Turn) -> None:
        stop = Stop.ABORTED_STREAMING
        try:
            stop = await turn()
        finally:
            self._over(stop)

    def _over(self, stop: Stop) -> None:
        if self._own.ended is not None:
            self._own.ended(stop)

    async def _arrived(self, item: Input) -> InputRefused | None:
        """Why an input is not taken up, where somebody has a say in that."""
        frame = self._shared.frame
        frame.refresh()
        if (moments := frame.moments) is None or item.hidden:
            return await self._own.begins(item)
        from gatewright.tools.moments import InputArrives  # noqa: PLC0415  only where somebody listens

        verdict = await moments.at(
            InputArrives(agent=self.path, text=item.text, source=item.source)
        )
        if verdict.word in ("deny", "stop"):
            text = item.text if verdict.output is None else verdict.output
            return InputRefused(text=text, reason=verdict.text or "It was refused.")
        self.advise(verdict)
        return await self._own.begins(item)

    def advise(self, verdict: Verdict) -> None:
        """What others want the model and the person to know."""
        for text in verdict.context:
            self.publish(UserMessage(content=(TextContent(text),), hidden=True))
        if verdict.notice:
            self.publish(Noticed(text=verdict.notice))

    def _who_runs(self) -> Turns:
        """Our loop over its model, where nobody else was named."""
        own, shared, frame = self._own, self._shared, self._shared.frame
        ground = Ground(
            agent=self.path,
            talk=self.talk,
            emit=self.publish,
            tools=lambda: self.tools,
            inputs=lambda: self.runner.take_inputs(),
            barrier=own.barrier,
            where=lambda: self.where,
            clock=frame.clock,
            limits=own.limits,
            budgets=(shared.budget, self._budget, *own.budgets),
        )
        if own.turns is not None:
            return own.turns(ground)
        ports = ModelPorts(
            moments=lambda: frame.moments,
            attempts=frame.attempts,
            models=self.models,
            needed=self.needed,
            spending=self.spending,
            limits=lambda: own.limits.behind(self._requests),
            compactor=self.compactor,
            retry_in=own.retry_in,
            ask=lambda: partial(shared.broker.ask, self.path) if frame.interactive else None,
            advise=self.advise,
        )
        return ModelTurns(ground, ports)

    def _own_budget(self) -> Budget:
        """The main agent's is the session's."""
        cost = self._own.limits.cost if self.path != MAIN else 0.0
        return Budget(cost, lambda: self.spending.cost, f"agent {self.path}", self._nearly_spent)

    def _nearly_spent(self, told: str) -> None:
        self._shared.frame.journal.publish(Noticed(text=told, tone="warning"))
        text = f"{told} Finish with what you have: at the end of it you are stopped."
        self.publish(UserMessage(content=(TextContent(text),), hidden=True))

    @property
    def tools(self) -> BatchPorts:
        """What its calls run with."""
        frame = self._shared.frame
        return BatchPorts(frame.executor, self.context, self.publish, frame.clock, self._waited_for)

    def context(self, call_id: str) -> ToolContext:
        """What a call of this agent may use."""
        return self._shared.frame.context(
            CallPorts(
                agent=self.path,
                call_id=call_id,
                where=self.where,
                ledger=self._own.ledger,
                ask=partial(self._ask, call_id),
                stood=partial(self._stood, call_id),
                progress=partial(self._progressed, call_id),
                move=self._move,
                jobs=self._shared.jobs.of(self.path),
            )
        )

    async def _ask(self, call_id: str, ask: Ask) -> Answer:
        clock = self._shared.frame.clock
        began = clock.monotonic()
        try:
            named = msgspec.structs.replace(ask, call_id=call_id)
            if self._own.called:
                reason = f"{self._own.called}: {named.reason}"
                named = msgspec.structs.replace(named, reason=reason)
            return await self._shared.broker.ask(self.path, named)
        finally:
            self._stood(call_id, clock.monotonic() - began)

    def _stood(self, call_id: str, seconds: float) -> None:
        """So long it waited to be asked about, or for the answer."""
        self._waited[call_id] = self._waited.get(call_id, 0.0) + seconds

    def _waited_for(self, call_id: str) -> float:
        """Seconds the call stood still for the person; that is not the tool's time."""
        return self._waited.pop(call_id, 0.0)

    def _progressed(self, call_id: str, progress: Progress) -> None:
        event = ToolProgressed(
            call_id=call_id,
            tail=progress.tail,
            size=progress.size,
            seconds=progress.seconds,
            movable=progress.movable,
        )
        self.publish(event)

    def settle(self, where: Where) -> None:
        """Work in another root from now on: a work tree of its own, or the checkout again."""
        self.where = where
        self.publish(Moved(where=where.moved))

    def _move(self, cwd: Path) -> None:
        self.where = msgspec.structs.replace(self.where, cwd=cwd)
        self.publish(Moved(where=self.where.moved))
