"""All agents that a session started: who works, who waits in line, and who has ended.

Each run is told of exactly once: by the call that waits for it, or by one notice. Whoever is
stopped takes everything that it started along.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec

from gatewright.agent.agents.life import End, Life, Order
from gatewright.agent.agents.lineage import Lineage
from gatewright.agent.agents.places import Places
from gatewright.agent.agents.progress import Telling
from gatewright.agent.agents.roster import Roster
from gatewright.agent.errors import GatewrightError
from gatewright.agent.record.clock import Clock
from gatewright.agent.record.events import (
    AgentProgressed,
    AgentStarted,
    AnyEvent,
    Envelope,
    TurnEnded,
)
from gatewright.agent.record.journal import Journal
from gatewright.agent.session.children import AgentRun, AgentSpec
from gatewright.agent.session.inbox import InputSource
from gatewright.agent.session.jobs import OwnJobs
from gatewright.agent.session.waiting.person_waits import PersonWaits
from gatewright.agent.turn.stop import Stop
from gatewright.tools.access import MAIN
from gatewright.tools.protocol import ToolFailure
from gatewright.tools.system import private

SETTLE = 0.08  # seconds for a stopped turn to say what it used, before its end is told
GONE = 5.0  # seconds for all that belongs to a stopped one to go
IDLE = 600.0  # seconds an agent may wait for its own background work
WAITING = 100  # messages for one agent
SAME, NOTED, REFUSED = 60.0, 3, 5  # agents of one parent with one prompt, within so many seconds
DEFECT = "An internal error ended it; see ~/.gatewright/logs/errors.log."
log = logging.getLogger(__name__)


class CrewLimits(msgspec.Struct, frozen=True):
    depth: int = 3
    running: int = 20
    in_session: int = 200


class Opened(msgspec.Struct, frozen=True):
    """What a run begins with; `finish` is called once it has ended: where its work is now.

    `missing` says what the answer of a completed turn lacks: it goes on with that.
    """

    spec: AgentSpec
    missing: Callable[[Life], str] | None = None
    finish: Callable[[], Awaitable[tuple[str, str, str]]] | None = None  # path, branch, diffstat


class CrewPorts(msgspec.Struct, frozen=True, kw_only=True):
    journal: Journal
    clock: Clock
    loop: asyncio.AbstractEventLoop
    jobs: Callable[[str], OwnJobs]  # of an agent, by path
    spawn: Callable[[AgentSpec], AgentRun]  # raises SessionError, ValueError
    opened: Callable[[Life], Awaitable[Opened]]  # raises GatewrightError, ToolFailure
    kept: Callable[[str], Awaitable[None]]  # what that agent said is on disk
    limits: Callable[[], CrewLimits]
    new_id: Callable[[], str]
    reports: Path  # directory for reports that are too long for a notice
    # Who is told of starts, ends and what they are at; without it everybody.
    tell: Callable[[AnyEvent, str], object] | None = None


class Apart(msgspec.Struct, frozen=True):
    """Agents that do not count among those of the session. `counts` raises ToolFailure."""

    counts: Callable[[str], bool]  # whether those of this owner count here, one more from now on
    places: Places


class Crew:
    """A fold over all events, too: its lives are counted from what they do."""

    def __init__(self, ports: CrewPorts) -> None:
        self._ports = ports
        self._publish = ports.tell or ports.journal.publish
        self.lives: dict[str, Life] = {}  # that have not ended, by path
        self.roster = Roster()
        self.lineage = Lineage(ports.journal.hub().kept())
        self._places = Places(lambda: ports.limits().running)
        self.apart: Apart | None = None
        self._prompts: dict[str, deque[tuple[float, bytes]]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._turns: dict[str, TurnEnded] = {}  # the last end of a turn, by path
        self._telling = Telling(ports.loop, self._publish)
        self._waits = PersonWaits(ports.clock.monotonic, self.lives, self._telling.tell)
        self._stopped = False

    # starting

    def start(self, order: Order, *, attended: bool) -> Life:
        """From now on it lives: at once, or as soon as there is a place. Raises ToolFailure."""
        if self._stopped:
            raise ToolFailure("The session is ending: no agent is started any more.")
        places, clock = self._counted(order.owner), self._ports.clock.monotonic
        report = self.report_file(order.id)
        still = self._waits.of(order.path)
        life = Life(order, clock, report, stop=self.stop, places=places, still=still)
        self.lives[order.path] = life
        event = AgentStarted(
            child=order.path,
            kind=order.kind.name,
            prompt=order.prompt,
            call_id=order.call_id,
            name=order.name,
            model=order.model,
            background=order.background,
            description=order.description,
            resumed=bool(order.stored),
            mode=order.mode,
            isolation=order.isolation,
        )
        self._publish(event, order.owner)
        self.roster.began(life, counts=places is self._places)
        self._ports.jobs(order.owner).all.adopt(life, order.owner, attended=attended)
        if attended:
            self._lend(order.owner)
        task = asyncio.create_task(self._live(life), name=f"agent {order.path}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return life

    def _counted(self, owner: str) -> Places:
        """Where one more agent of this owner counts. Raises ToolFailure."""
        if self.apart is not None and self.apart.counts(owner):
            return self.apart.places
        most = self._ports.limits().in_session
        if self.roster.runs >= most:
            raise ToolFailure(
                f"{most} agents were started in this session, the most there may be "
                "(agents.maxPerSession). Do the rest yourself."
            )
        return self._places

    @property
    def limits(self) -> CrewLimits:
        return self._ports.limits()

    def new_id(self) -> str:
        """Of an agent: never one that was."""
        while (id := self._ports.new_id()) in self.roster:
            pass
        return id

    def living(self, name: str) -> Life | None:
        """The one of that name or id that has not ended."""
        return next(
            (life for life in self.lives.values() if name in (life.order.name, life.id)), None
        )

    def report_file(self, id: str) -> Path:
        return self._ports.reports / f"{id}.md"

    def seen_before(self, owner: str, prompt: str) -> int:
        """How many agents of this parent had the same prompt just now, this one included."""
        now, mark = self._ports.clock.monotonic(), hashlib.blake2b(prompt.encode()).digest()
        recent = self._prompts.setdefault(owner, deque(maxlen=64))
        while recent and now - recent[0][0] > SAME:
            recent.popleft()
        recent.append((now, mark))
        return sum(each == mark for _, each in recent)

    # the foreground

    def release(self, life: Life) -> None:
        """The call that waited for it goes on without it."""
        life.background = True
        self._waits.released(life)
        self._ports.jobs(life.order.owner).all.released(life.id)
        self._take_back(life.order.owner)
        self._tell(life)

    def left_alone(self, life: Life) -> None:
        """The call that waited for it has its end."""
        self._take_back(life.order.owner)

    def _lend(self, owner: str) -> None:
        if (parent := self.lives.get(owner)) is not None:
            parent.blocked += 1
            self._place(parent)

    def _take_back(self, owner: str) -> None:
        if (parent := self.lives.get(owner)) is not None:
            parent.blocked -= 1
            self._place(parent)

    def _place(self, life: Life) -> None:
        """It keeps a place while it works itself, and no longer."""
        if life.run is None:
            return
        wants = life.running and not life.blocked and life.phase != "waiting"
        if life.placed and not wants:
            life.placed = False
            life.places.give()
        elif wants and not life.placed:
            life.placed = True
            life.places.take_back()

    # its life

    async def _live(self, life: Life) -> None:
        """Never cancelled by us: it ends the work and cleans up behind it."""
        work = life.work = asyncio.ensure_future(self._work(life))
        if life.stopping:  # before it began
            work.cancel()
        try:
            await asyncio.wait({work})
        finally:
            work.cancel()
            life.settle(_end_of(work))
            await self._finished(life)

    async def _work(self, life: Life) -> End:
        if not life.places.free:
            self._tell(life)
        await life.places.take()
        life.placed, life.phase = True, "running"
        try:
            await self._ports.kept(life.order.owner)
            opened = await self._ports.opened(life)
            life.finish = opened.finish
            run = life.run = self._ports.spawn(opened.spec)
        except (GatewrightError, ToolFailure, ValueError, OSError) as error:
            return End("failed", str(error))
        self._tell(life)
        return await self._until_done(life, run, opened.missing)

    async def _until_done(
        self, life: Life, run: AgentRun, missing: Callable[[Life], str] | None
    ) -> End:
        """Turns, and the waits for its own background work between them."""
        jobs = self._ports.jobs(life.path)
        while True:
            stop = await run.idle()
            if run.busy:  # somebody wrote to it in this very moment
                continue
            if stop is Stop.COMPLETED and missing is not None and (lacks := missing(life)):
                run.send(lacks, source="program")
                continue
            if stop is not Stop.COMPLETED or not jobs.all.unfinished(life.path):
                return life.settle(life.came_to(stop, self._turns.get(life.path)))
            woken = jobs.all.end_of_any(life.path)
            woken.clear()
            life.phase, life.state = "waiting", "its own work"
            self._place(life)
            self._tell(life)
            try:
                async with asyncio.timeout(IDLE):
                    await woken.wait()
            except TimeoutError:
                end = life.settle(life.came_to(stop, self._turns.get(life.path)))
                life.left = await jobs.all.stop_of(life.path)
                return end
            life.phase, life.state = "running", ""
            self._place(life)
            self._tell(life)

    async def _finished(self, life: Life) -> None:
        """Its end is told first, and then all that is left of it goes."""
        order, run = life.order, life.run
        jobs = self._ports.jobs(life.path).all
        try:
            if run is not None and life.stopping:
                await run.halt(SETTLE)
            if life.finish is not None:  # where its work is can be said once nothing runs there
                life.left = (*life.left, *await jobs.stop_of(life.path))
                if run is not None:
                    await run.halt(GONE)
                    await run.rest()
                life.worktree, life.branch, life.diff = await life.finish()
            self._write_report(life)
        finally:
            life.finished = life.summed()
            if run is not None:
                run.finished = life.finished
            self._publish(life.finished, order.owner)
            self.roster.ended(life)
            if life.placed:
                life.placed = False
                life.places.give()
            life.ended.set()
        try:
            life.left = (*life.left, *await jobs.stop_of(life.path))
            if run is not None:
                await run.close()
            else:
                self._ports.journal.forget(life.path)
        finally:
            self.lives.pop(life.path, None)
            self._turns.pop(life.path, None)
            self._telling.forget(life.path)
            self._waits.ended(life.path)
            self._prompts.pop(life.path, None)
            life.gone.set()

    def _write_report(self, life: Life) -> None:
        if not (life.background and life.said):
            return
        try:
            private.write(life.report_file, life.said.encode("utf-8", errors="replace"))
        except OSError as error:
            log.warning("the report of %s: %s", life.path, error)

    # stopping

    def stop(self, life: Life, by: str) -> None:
        """End it and all it started, in somebody's name."""
        if life.end is not None or life.stopping:
            return
        life.stopping = by
        if life.work is not None:
            life.work.cancel()

    async def close(self) -> None:
        """Nothing is started any more; what lives ends with the session."""
        self._stopped = True
        for life in list(self.lives.values()):
            self.stop(life, "session")
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=GONE)
        self._telling.close()

    # what they do

    def saw(self, envelope: Envelope) -> None:
        event = envelope.event
        if envelope.agent == MAIN and self.lineage.saw(envelope):
            self._orphan()
        self._waits.saw(envelope)
        life = self.lives.get(envelope.agent)
        if life is None or isinstance(event, AgentProgressed):
            return
        if isinstance(event, TurnEnded):
            self._turns[life.path] = event
        if life.saw(event):
            self._tell(life)

    def asks(self, agent: str, waiting: bool) -> None:
        """It waits for the person's answer, or has it."""
        self._waits.asks(agent, waiting=waiting)

    def awaited(self, agent: str) -> bool:
        """Whether the person's turn waits for it."""
        return self._waits.awaited(agent)

    def _tell(self, life: Life) -> None:
        self._telling.tell(life)

    def _orphan(self) -> None:
        """The main agent is told nothing of those it went back behind, until it is there again."""
        elsewhere = self.lineage.elsewhere()
        jobs = self._ports.jobs(MAIN).all
        for member in self.roster.members():
            if member.owner == MAIN and member.orphaned != (member.id in elsewhere):
                member.orphaned = not member.orphaned
                jobs.mute(member.id, muted=member.orphaned)

    # messages

    def deliver(self, life: Life, text: str, source: InputSource) -> None:
        """At its next boundary. Raises ToolFailure: too much waits already."""
        if life.run is None:
            raise ToolFailure(f"{life.id} waits for a place and has not begun: send it later.")
        if life.run.waiting >= WAITING:
            raise ToolFailure(f"{WAITING} messages wait for {life.id} already: wait until it reads")
        life.run.send(text, source=source)
        self._ports.jobs(life.path).all.end_of_any(life.path).set()


def _end_of(work: asyncio.Future[End]) -> End:
    if work.cancelled() or not work.done():
        return End("stopped")
    if (defect := work.exception()) is not None:
        log.error("an agent crashed", exc_info=defect)
        return End("failed", DEFECT)
    return work.result()
