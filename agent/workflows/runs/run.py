"""One run of a script, from its launch to its end.

What counts is in the journal before it is acted on. The end is final before anything is cleaned
up, and is said once.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from gatewright.agent.errors import GatewrightError
from gatewright.agent.record.events_of_workflows import CallNow, RunStatus
from gatewright.agent.workflows.engine import wire
from gatewright.agent.workflows.runs.call import LIVE, Call
from gatewright.agent.workflows.runs.journal import (
    AgentBegan,
    Begun,
    CallMade,
    CallSettled,
    Journal,
    LineLogged,
    RunEnded,
    RunPaused,
)
from gatewright.agent.workflows.runs.keys import Nths, key_of
from gatewright.agent.workflows.runs.launched import Launched, RunPorts
from gatewright.agent.workflows.runs.money import Money
from gatewright.agent.workflows.runs.run_ends import broken, end_of, why_of
from gatewright.agent.workflows.runs.run_port import BUDGET, STOPPED, CallProblem, Outcome
from gatewright.agent.workflows.runs.scheduler import Turn
from gatewright.agent.workflows.runs.settling import Settling, inlined
from gatewright.agent.workflows.runs.working import Working
from gatewright.tools.system import private

LOGGED = 1000  # lines that are kept
NEWS = 200  # of which nobody asked yet
FINAL = frozenset({"done", "failed", "stopped", "interrupted"})
FINISH = 3600.0  # seconds for agents to finish whose script has died
GONE = 5.0
log = logging.getLogger(__name__)


class Run:
    def __init__(self, order: Launched, journal: Journal, ports: RunPorts) -> None:
        self.order, self.ports, self.journal = order, ports, journal
        self.id, self.name = order.file.id, order.file.name
        self.stands: RunStatus = "pending"
        self.why, self.result = "", ""
        self.result_path: Path | None = None
        self.phase = ""
        self.calls: list[Call] = []
        self.log: deque[str] = deque(maxlen=LOGGED)
        self.unasked: deque[str] = deque(maxlen=NEWS)
        self.money = Money(self.name, order.allowed, self._live_spent, ports.tell)
        self._nths = Nths()
        self._hears = Settling(order.folder, self.money.now, self._again, self.moved)
        self._tasks: set[asyncio.Task[None]] = set()
        self._working = Working(self)
        self._began = self._ms = 0.0
        self.stopping = ""  # who stops it
        self._broken = ""  # why it cannot go on, where that is not the script's doing
        self._finishes = False  # its script has died, and its agents go on to their ends
        self._main: asyncio.Task[None] | None = None
        self._script: asyncio.Future[wire.Ended] | None = None
        self.ended, self.gone = asyncio.Event(), asyncio.Event()

    # from start to end

    def start(self) -> None:
        """It has a place among the runs of the session."""
        if self._main is None and self.stands == "pending":
            self.stands, self._began = "running", self.ports.clock()
            self._main = asyncio.create_task(self._live(), name=f"workflow {self.id}")

    async def _live(self) -> None:
        script = self._script = asyncio.ensure_future(self._run_script())
        if self.stopping:
            script.cancel()
        try:
            await asyncio.wait({script})
        finally:
            script.cancel()
            ended = end_of(script)
            self._finishes = ended.kind == "died" and not self.stopping
            self._ends(ended)
            await self._clean()

    async def _run_script(self) -> wire.Ended:
        order = self.order
        self.journal.add(Begun(self.ports.time(), order.file.session))
        try:
            engine = self._hears.engine = await self.ports.engine(order.checked)
        except GatewrightError as error:
            return wire.Ended(kind="error", message=str(error))
        await engine.begin(order.args, self.money.now())
        async for batch in engine.batches():
            for message in batch:
                if isinstance(message, wire.Ended):
                    return message
                self._heard(message)
            self._hears.idle = True
            self.moved()
            await self._hears.deliver()
        return wire.Ended(kind="died", message="The engine is gone.")

    def _ends(self, ended: wire.Ended) -> None:
        """Its end is final from here on."""
        if self.over:
            return
        if self._broken:
            self.stands, self.why = "failed", self._broken
        elif self.stopping:
            leaving = self.stopping == "session"
            self.stands = "interrupted" if leaving else "stopped"
            self.why = "The session ended." if leaving else f"Stopped by the {self.stopping}."
        elif ended.ok:
            self.stands = "done"
        else:
            self.stands, self.why = "failed", why_of(ended)
        self._ms = max(1.0, (self.ports.clock() - self._began) * 1000) if self._began else 1.0
        try:
            if self.stands == "done":
                self._keep(ended.value)
            self.journal.add(RunEnded(self.stands, self.ports.time(), self.why))
        except OSError as error:
            log.warning("the journal of %s: %s", self.id, error)
        self._hears.over = True
        self.ports.scheduler.drop(self.id)
        self.ended.set()
        self.ports.ended(self)

    def _keep(self, value: Any) -> None:
        if value is None:
            return
        if isinstance(value, str):
            self.result, name = value, "result.md"
        else:
            self.result = msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
            name = "result.json"
        self.result_path = self.order.folder / name
        private.write(self.result_path, self.result.encode("utf-8", errors="replace"))

    async def _clean(self) -> None:
        """Those whose script has died finish what they do; all others are stopped."""
        try:
            if not self._finishes:
                for call in self.calls:
                    if call.worker is not None:
                        call.worker.stop(self.stopping or "workflow")
            if self._tasks:
                await asyncio.wait(self._tasks, timeout=FINISH if self._finishes else GONE)
            for task in self._tasks:
                task.cancel()
        finally:
            if self._hears.engine is not None:
                await self._hears.engine.close()
            self.journal.close()
            self.gone.set()

    # what the script says

    def _heard(self, message: wire.Message) -> None:
        match message:
            case wire.Called():
                self._called(message)
            case wire.Nested():
                self.does(self._nested(message))
            case wire.Logged(text=text):
                self.note(text)
            case wire.PhaseBegan(title=title):
                self.phase = title
            case wire.Ended():
                raise AssertionError("the end of a script is its last message")

    def note(self, text: str) -> None:
        if len(self.log) < LOGGED:
            self.journal.add(LineLogged(text))
        self.log.append(text)
        self.unasked.append(text)

    def _called(self, called: wire.Called) -> None:
        call = Call(index=len(self.calls) + 1, called=called, clock=self.ports.clock)
        self.calls.append(call)
        self.phase = called.phase or self.phase
        call.key = key_of(called.prompt, called.options)
        call.nth = self._nths.next(call.key)
        try:
            self._admit(call)
        except CallProblem as problem:
            self.refuse(call, problem.kind, str(problem))
            return
        self.journal.add(CallMade(call.index, call.key, call.nth, call.label, called.phase))
        self.money.looked()
        if not self._replayed(call):
            self.queue(call)

    def _admit(self, call: Call) -> None:
        """Raises CallProblem."""
        most = self.money.allowed.agents
        if call.index + self.money.below > most:
            raise CallProblem("agents", f"A run makes {most:,} calls of agent() at most.")
        call.about = self.ports.agents.about(call.called.options)

    def _replayed(self, call: Call) -> bool:
        if self.order.chosen is None:
            return False
        fate = call.fate(self.order.chosen)
        call.goes_on, call.stale = fate.agent, fate.stale
        if fate.settled is not None:
            self._hears.replay(fate.order, call, fate.settled)
        return fate.settled is not None

    def queue(self, call: Call) -> None:
        """It runs as soon as there is a place for it; a budget that is spent refuses it."""
        if over := self.money.over():
            self.refuse(call, BUDGET, over)
            return
        begin = partial(self._begin, call)
        self.ports.scheduler.put(Turn(self.id, call.about.prefix, begin))

    def _begin(self, call: Call) -> None:
        """Called by the scheduler, which counted a place for it."""
        if call.over or self.over:
            self.ports.scheduler.give()
            return
        call.state, call.began = "running", self.ports.clock()
        self.money.agents += 1
        self.money.looked()
        self.moved(call)
        self.does(self._working.through(call))

    def _again(self, call: Call, why: str) -> None:
        """What was recorded of it is not there."""
        self.note(f"{call.label}: {why}")
        self.queue(call)

    def refuse(self, call: Call, kind: str, why: str) -> None:
        """It cannot be made: it throws in the script."""
        call.came_to(Outcome(ok=False, kind=kind, why=why))
        self._settle(call, throws=True)

    def cancel(self, call: Call) -> None:
        """The person does not want it, and it has not begun."""
        self.came_to(call, Outcome(ok=False, kind=STOPPED, why="The person stopped it."))

    async def _nested(self, message: wire.Nested) -> None:
        self._hears.put(await inlined(message, self.ports.nested))
        await self._hears.deliver()

    # what calls come to

    def attempt(self, call: Call, agent: str) -> None:
        """An agent is about to work on it."""
        call.agent = agent
        self.journal.add(AgentBegan(call.index, agent, call.about.model, call.about.kind))

    def came_to(self, call: Call, outcome: Outcome) -> None:
        """How a live call ended: kept, then told to the script."""
        call.came_to(outcome)
        if self.stopping or self._broken or (self.over and not self._finishes):
            return  # it goes on where it was, should the run
        self.journal.settle(
            CallSettled(
                call.index,
                outcome.ok,
                value=outcome.value,
                kind=outcome.kind,
                why=outcome.why,
                agent=call.agent,
                usage=call.usage,
                cost=call.cost,
                ms=round(call.seconds * 1000),
                files=dict(outcome.files),
                worktree=outcome.worktree,
                repeats=not (call.touched or outcome.touched),
            )
        )
        self._settle(call, throws=outcome.kind == BUDGET and not call.agent)

    def _settle(self, call: Call, *, throws: bool = False) -> None:
        self._hears.put(call.settled(self.money.now(), throws=throws))
        self.moved(call)
        if self._hears.idle:
            self.does(self._hears.deliver())

    def does(self, work: Any) -> None:
        task = asyncio.create_task(work, name=f"of workflow {self.id}")
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (defect := task.exception()) is not None:
            self._broken = self._broken or broken(defect)
            if self._script is not None:
                self._script.cancel()

    # what a person does

    def pause(self, *, on: bool) -> None:
        if self.stands in ("running", "paused"):
            self.stands = "paused" if on else "running"
            self.journal.add(RunPaused(on))
            self.ports.scheduler.pause(self.id, on=on)
            self.moved()

    def stop_now(self, by: str) -> None:
        if self.over or self.stopping:
            return
        self.stopping = "session" if self.ports.leaving() else by
        if self._script is not None:
            self._script.cancel()
        elif self._main is None:  # it waited for its turn
            self._ends(wire.Ended())
            self.journal.close()
            self.gone.set()

    # how it stands

    def now(self) -> float:
        return self.ports.clock()

    def moved(self, call: Call | None = None) -> None:
        self.ports.moved(self, call.index if call is not None else 0)

    def _live_spent(self) -> tuple[int, float]:
        found = [call.worker.doing() for call in self.calls if call.worker is not None]
        return sum(each.tokens for each in found), sum(each.cost for each in found)

    @property
    def live(self) -> Sequence[Call]:
        return [call for call in self.calls if call.state in LIVE]

    @property
    def asks(self) -> int:
        workers = (call.worker for call in self.calls if call.worker is not None)
        return sum(worker.doing().state == "asks" for worker in workers)

    @property
    def over(self) -> bool:
        return self.stands in FINAL

    @property
    def running(self) -> bool:
        return not self.over

    @property
    def status_now(self) -> RunStatus:
        """Where all that work wait for a person, nothing moves."""
        live = sum(call.worker is not None for call in self.calls)
        stands = self.stands == "running" and live and self.asks == live
        return "paused" if stands else self.stands

    def call_now(self, call: Call) -> CallNow:
        return call.now(held=self.ports.scheduler.held(call.about.prefix))

    @property
    def seconds(self) -> float:
        if self._ms:
            return self._ms / 1000
        return self.ports.clock() - self._began if self._began else 0.0
