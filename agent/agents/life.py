"""One run of an agent, from its order to its end: a job of whoever started it.

Its state is final before anything is cleaned up; what it said, called and was refused is counted
here from its own events.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import msgspec

from gatewright.agent.agents.inert_text import told_as_data
from gatewright.agent.agents.joined import Joined
from gatewright.agent.agents.kind import AgentKind
from gatewright.agent.agents.places import Places
from gatewright.agent.agents.results import notice, told_end
from gatewright.agent.commands.outcome import Scope
from gatewright.agent.record.events import (
    AgentFinished,
    AgentProgressed,
    AnyEvent,
    AssistantMessage,
    Decided,
    Envelope,
    RequestQueued,
    RetryScheduled,
    ToolFinished,
    ToolStarted,
    TurnEnded,
)
from gatewright.agent.record.events_of_agents import ASKS, AgentPhase, AgentStatus
from gatewright.agent.record.messages import TextPart, Usage
from gatewright.agent.session.children import AgentRun
from gatewright.agent.session.inbox import InputSource
from gatewright.agent.session.waiting.standstill import Standstill
from gatewright.agent.turn.stop import Stop
from gatewright.tools.access import Where
from gatewright.tools.protocol import Progress

NEWS = 200  # lines that nobody asked for yet
LINE = 400  # characters of one
REFUSALS = 20  # that a report names


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be started: checked, and complete."""

    id: str
    owner: str  # whom its end is told
    parent: str  # below whom it works
    kind: AgentKind
    prompt: str
    source: InputSource = "agent"  # whose words the prompt is
    where: Where
    description: str = ""
    name: str = ""
    call_id: str = ""
    model: str = ""  # empty: its parent's
    effort: str = ""  # empty: as its kind says
    scope: Scope | None = None  # of a skill, besides that of its kind
    joined: Joined | None = None  # what it has of a plan that it works for
    mode: str = ""
    background: bool = False
    isolation: str = ""
    worktree: str = ""  # of an earlier run, to go on in
    stored: tuple[Envelope, ...] = ()  # of earlier runs

    @property
    def path(self) -> str:
        return f"{self.parent}/{self.id}"


class End(msgspec.Struct, frozen=True):
    status: AgentStatus
    what: str = ""  # happened, where that is not plain


class Life:
    """Implements `Job` and `Reporting`. The crew moves it on."""

    kind = "agent"

    def __init__(
        self,
        order: Order,
        clock: Callable[[], float],
        report_file: Path,
        *,
        stop: Callable[[Life, str], None],
        places: Places,
        still: Standstill,
    ) -> None:
        self.order, self.id, self.path = order, order.id, order.path
        self.report_file = report_file  # of a report that is too long for a notice
        self._clock, self._began, self._stop = clock, clock(), stop
        self._ms = self._waited = 0
        self.still = still  # while the person is asked, by it or by one that it waits for
        self.background = order.background
        self.phase: AgentPhase = "queued"
        self.state, self.target = "", ""
        self.model = order.model
        self.run: AgentRun | None = None
        self.stopping = ""  # who stops it: person, agent, turn, session
        self.end: End | None = None
        self.stop_of_turn: Stop | None = None  # how its last turn ended
        self.finished: AgentFinished | None = None  # what everybody is told of its end
        self.said, self.tools, self.refused = "", 0, 0
        self.refusals: deque[str] = deque(maxlen=REFUSALS)
        self.left: Sequence[str] = ()  # its own work that was stopped with it
        self.worktree = self.branch = self.diff = ""
        self.places = places  # among which it has one while it works
        self.blocked = 0  # agents it started and waits for
        self.placed = False
        self.held = False  # its request waits for its turn at the server
        self._until = 0.0  # the server wants no request before
        self._asking = 0  # calls of it that wait for the person
        self._log: deque[str] = deque(maxlen=NEWS)
        self._unasked = 0
        self.work: asyncio.Future[End] | None = None  # its turns and the waits between them
        # Once nothing runs in the place of its own that it has: path, branch and what changed.
        self.finish: Callable[[], Awaitable[tuple[str, str, str]]] | None = None
        self.ended, self.gone = asyncio.Event(), asyncio.Event()

    # what it does

    def saw(self, event: AnyEvent) -> bool:
        """One of its own events; whether what it is at has changed."""
        if isinstance(event, RequestQueued | RetryScheduled):
            self.phase, self.state, self.held = "waiting", "waits for the server", True
            self.target, self._until = "", self._clock() + event.seconds
            return True
        if self.held:
            self.phase, self.state, self.target, self.held = "running", "answering", "", False
            self._saw(event)
            return True
        return self._saw(event)

    def _saw(self, event: AnyEvent) -> bool:
        match event:
            case ToolStarted(verb=verb, target=target):
                self.tools += 1
                self.state, self.target = verb, target
                self._note(f"{verb} {target}")
                return True
            case ToolFinished():
                self.state, self.target = "answering", ""
                return True
            case AssistantMessage(parts=parts):
                text = "".join(part.text for part in parts if isinstance(part, TextPart)).strip()
                if text:
                    self.said = text
                    self._note(text)
                return True
            case Decided(behavior="deny", tool=tool, target=target, reason=reason):
                self.refused += 1
                self.refusals.append(f"{tool} {target}".strip()[:LINE] + f": {reason}"[:LINE])
                return False
            case _:
                return False

    def came_to(self, stop: Stop, ended: TurnEnded | None) -> End:
        """What the end of its turn makes of it."""
        message = ended.message if ended is not None else ""
        self.stop_of_turn = stop
        match stop:
            case Stop.COMPLETED:
                return End("completed", message)
            case Stop.BUDGET_EXHAUSTED:
                return End("budget_exhausted", message)
            case Stop.USER_REFUSED:
                self.stopping = "person"
                return End("stopped", "The person said no and ended its work.")
            case Stop.ABORTED_STREAMING | Stop.ABORTED_TOOLS:
                return End("stopped", message)
            case _:
                return End("failed", message or f"It ended: {stop}.")

    def lines(self) -> list[str]:
        """What it did and said last, a line each."""
        return list(self._log)

    def _note(self, line: str) -> None:
        text = line if len(line) <= LINE else f"{line[:LINE]}…"
        self._log.append(text)
        self._unasked = min(self._unasked + 1, NEWS)

    def asks(self, *, waiting: bool) -> None:
        """A call waits for the person, or does not any more: then it goes on with that call."""
        self._asking += 1 if waiting else -1
        self.phase = "waiting" if self._asking else "running"

    # how it stands

    @property
    def is_asking(self) -> bool:
        return self._asking > 0

    @property
    def held_for(self) -> float:
        """Seconds until the server wants its request."""
        return max(0.0, self._until - self._clock()) if self.held else 0.0

    @property
    def title(self) -> str:
        order = self.order
        called = f"{order.name}: " if order.name else ""
        return f"{called}{order.kind.name}, {order.description or order.prompt[:60]}"

    @property
    def running(self) -> bool:
        return self.end is None

    @property
    def seconds(self) -> float:
        """That it works or worked, without what the person took to answer."""
        if self._ms:
            return (self._ms - self._waited) / 1000
        return self._clock() - self._began - self.still.seconds

    @property
    def usage(self) -> Usage:
        return self.run.usage if self.run is not None else Usage()

    @property
    def tokens(self) -> int:
        usage = self.usage
        return usage.input + usage.output + usage.cache_read + usage.cache_write

    @property
    def cost(self) -> float:
        return self.run.cost if self.run is not None else 0.0

    def settle(self, end: End) -> End:
        """It is over, whatever is still to be cleaned up; the first word counts."""
        if self.end is None:
            self.end = end
            self._ms = max(1, round((self._clock() - self._began) * 1000))
            self._waited = round(self.still.seconds * 1000)
        return self.end

    def status(self) -> str:
        if self.end is not None:
            return self.end.status
        return self.phase

    def progressed(self) -> AgentProgressed:
        return AgentProgressed(
            child=self.path,
            state=ASKS if self.is_asking else self.state or self.phase,
            target=self.target,
            tokens=self.tokens,
            cost=self.cost,
            seconds=self.seconds,
            still=self.still.now,
            tools=self.tools,
            phase=self.phase,
            background=self.background,
            wait=self.held_for,
        )

    def summed(self) -> AgentFinished:
        """What everybody is told of its end."""
        end, order = self.end or End("stopped"), self.order
        return AgentFinished(
            child=self.path,
            ok=end.status == "completed",
            report=self.said,
            status=end.status,
            usage=self.usage,
            cost=self.cost,
            ms=self._ms,
            waited=self._waited,
            tools=self.tools,
            refused=self.refused,
            call_id=order.call_id,
            name=order.name,
            background=self.background,
            worktree=self.worktree,
            branch=self.branch,
            why=end.what,
            stopped_by=self.stopping,
        )

    # as a job

    def news(self) -> str:
        lines = list(self._log)[len(self._log) - self._unasked :]
        self._unasked = 0
        if self.end is not None:
            return told_end(self)
        return told_as_data("\n".join(lines))

    def output(self) -> str:
        return told_end(self) if self.end is not None else told_as_data("\n".join(self._log))

    def notice(self) -> str:
        return notice(self)

    def progress(self) -> Progress:
        doing = f"{self.state} {self.target}".strip() or self.phase
        return Progress(self.said if self.end else doing, len(self.said), self.seconds)

    async def wait(self) -> None:
        """Until what came of it is known. It has no limit of its own: who waits has one."""
        await self.ended.wait()

    def dismiss(self) -> None:
        self._stop(self, "person")

    async def stop(self) -> None:
        """As the agent wants it that started it."""
        self._stop(self, "agent")
        await self.gone.wait()
