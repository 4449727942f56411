"""A run with a script written in Python and agents that are functions, for what runs do with both.

The engine says what the real one says: all that a script does until it waits is one batch.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from gatewright.agent.record.events import AnyEvent
from gatewright.agent.record.messages import Usage
from gatewright.agent.workflows.engine import wire
from gatewright.agent.workflows.runs.job import RunJob
from gatewright.agent.workflows.runs.journal import Journal
from gatewright.agent.workflows.runs.launched import Launched, RunPorts
from gatewright.agent.workflows.runs.money import Allowed
from gatewright.agent.workflows.runs.past import Chosen, RunFile, read_past, write_run
from gatewright.agent.workflows.runs.run import Run
from gatewright.agent.workflows.runs.run_book import BookPorts, Runs
from gatewright.agent.workflows.runs.run_port import About, CallProblem, Doing, Outcome, Work
from gatewright.agent.workflows.runs.scheduler import Scheduler
from gatewright.agent.workflows.script.checked import Checked, Meta
from tests.fakes.waiting import PATIENCE

UNLIMITED = Allowed()
ID = "wf_0123456789ab"
QUIET = 12  # turns of the loop without a word of the script: it waits


class Thrown(Exception):
    """What a call throws in the script."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class Globals:
    """What a script has."""

    def __init__(self, engine: FakeEngine) -> None:
        self._engine = engine

    async def agent(self, prompt: str, *, phase: str = "", **options: Any) -> Any:
        return await self._engine.call(prompt, phase, wire.CallOptions(**options))

    async def parallel(self, calls: Sequence[Awaitable[Any]]) -> list[Any]:
        results = await asyncio.gather(*calls, return_exceptions=True)
        return [None if isinstance(each, BaseException) else each for each in results]

    def log(self, text: str) -> None:
        self._engine.out.append(wire.Logged(text))


Script = Callable[[Globals], Awaitable[Any]]


class FakeEngine:
    def __init__(self, script: Script) -> None:
        self._script = script
        self.out: list[wire.Message] = []
        self._ids = itertools.count(1)
        self._open: dict[int, asyncio.Future[Any]] = {}
        self._throws: dict[int, bool] = {}
        self._task: asyncio.Future[Any] | None = None
        self._told = asyncio.Event()
        self.budgets: list[wire.BudgetNow] = []
        self.closed = self.dead = False

    async def call(self, prompt: str, phase: str, options: wire.CallOptions) -> Any:
        id = next(self._ids)
        future = self._open[id] = asyncio.get_running_loop().create_future()
        self._throws[id] = options.on_error == "throw"
        self.out.append(wire.Called(id, prompt, options, phase))
        return await future

    async def begin(self, args: object, budget: wire.BudgetNow) -> None:
        del args
        self.budgets.append(budget)
        self._task = asyncio.ensure_future(self._script(Globals(self)))
        self._told.set()

    async def settle(self, settled: wire.Settled | wire.Inlined) -> None:
        if isinstance(settled, wire.Settled) and (future := self._open.pop(settled.id, None)):
            if settled.budget is not None:
                self.budgets.append(settled.budget)
            if settled.ok:
                future.set_result(settled.value)
            elif settled.throws or self._throws[settled.id]:
                assert settled.error is not None
                future.set_exception(Thrown(settled.error.kind, settled.error.message))
            else:
                future.set_result(None)
        self._told.set()

    def die(self) -> None:
        self.dead = True
        self._told.set()

    async def batches(self) -> AsyncIterator[tuple[wire.Message, ...]]:
        assert self._task is not None
        while True:
            await self._told.wait()
            self._told.clear()
            if self.dead:
                yield (wire.Ended(kind="died", message="The worker was killed."),)
                return
            await self._quiet()
            said, self.out = tuple(self.out), []
            if self._task.done():
                yield (*said, self._end())
                return
            yield said

    async def _quiet(self) -> None:
        assert self._task is not None
        quiet, before = 0, len(self.out)
        while quiet < QUIET and not self._task.done():
            await asyncio.sleep(0)
            quiet = quiet + 1 if len(self.out) == before else 0
            before = len(self.out)

    def _end(self) -> wire.Ended:
        assert self._task is not None
        error = self._task.exception()
        if error is not None:
            return wire.Ended(kind="error", message=str(error), line=3)
        return wire.Ended(value=self._task.result())

    async def close(self) -> None:
        self.closed = True
        if self._task is not None:
            self._task.cancel()


Answers = Callable[[Work], Awaitable[Outcome]]
USED = Usage(input=10, output=5)


def said(value: Any, *, cost: float = 0.01) -> Outcome:
    return Outcome(ok=True, value=value, usage=USED, cost=cost)


def failed(kind: str, *, cost: float = 0.01) -> Outcome:
    return Outcome(ok=False, kind=kind, why=f"It failed: {kind}.", usage=USED, cost=cost)


class FakeWorker:
    def __init__(self, work: Work, answers: Answers, ended: Callable[[FakeWorker], None]) -> None:
        self.work, self.id, self.path, self.model = work, work.agent, f"main/{work.agent}", "m"
        self.began = asyncio.Event()
        self.heard: list[str] = []
        self.stopped = ""
        self.asks = False
        self._task = asyncio.ensure_future(answers(work))
        self._ended = ended
        self._task.add_done_callback(self._done)

    def _done(self, task: asyncio.Future[Outcome]) -> None:
        del task
        self.began.set()
        self._ended(self)

    def doing(self) -> Doing:
        return Doing("asks" if self.asks else "running")

    def last(self) -> tuple[str, ...]:
        return ("Read a.py",)

    async def wait(self) -> Outcome:
        await asyncio.wait({self._task})
        if self._task.cancelled():
            return failed("stopped")
        return self._task.result()

    def stop(self, by: str) -> None:
        self.stopped = by
        self._task.cancel()

    def say(self, text: str) -> None:
        self.heard.append(text)


class FakeAgents:
    def __init__(self, answers: Answers) -> None:
        self.answers = answers
        self.started: list[FakeWorker] = []
        self.live: set[FakeWorker] = set()
        self.most = 0
        self._ids = itertools.count(1)
        self.model = "model-a"
        self.prefix: Callable[[wire.CallOptions], str] = lambda _: str(next(self._ids))

    def about(self, options: wire.CallOptions) -> About:
        if options.agent_type == "nobody":
            raise CallProblem("options", "There is no agent nobody.")
        return About(self.model, options.agent_type, self.prefix(options))

    def new_id(self) -> str:
        return f"a{next(self._ids):06x}"

    async def start(self, work: Work) -> FakeWorker:
        worker = FakeWorker(work, self.answers, self.live.discard)
        self.started.append(worker)
        self.live.add(worker)
        self.most = max(self.most, len(self.live))
        return worker


class Stage:
    """Runs of one session in a folder; `events` is all that it published."""

    def __init__(self, folder: Path, answers: Answers, *, most: int = 16) -> None:
        self.folder = folder
        self.agents = FakeAgents(answers)
        self.events: list[AnyEvent] = []
        self.told: list[str] = []
        self.jobs: list[RunJob] = []
        self.engines: list[FakeEngine] = []
        self.leaving = False
        loop = asyncio.get_running_loop()
        self.scheduler = Scheduler(lambda: most, loop)
        self.book = Runs(
            BookPorts(
                loop=loop,
                publish=self.events.append,
                adopt=self.jobs.append,
                transcript=lambda folder, agent: None,
                projects=lambda: (folder,),
            )
        )

    def ports(self, script: Script) -> RunPorts:
        async def engine(checked: Checked) -> FakeEngine:
            del checked
            made = FakeEngine(script)
            self.engines.append(made)
            return made

        async def nested(message: wire.Nested) -> Checked:
            raise CallProblem("workflow", f"There is no workflow {message.name}.")

        return RunPorts(
            agents=self.agents,
            engine=engine,
            nested=nested,
            scheduler=self.scheduler,
            clock=time.monotonic,
            time=time.time,
            tell=self.told.append,
            moved=self.book.moved,
            ended=self.book.ended,
            leaving=lambda: self.leaving,
        )

    def launch(
        self,
        script: Script,
        *,
        id: str = ID,
        allowed: Allowed = UNLIMITED,
        resumes: bool = False,
        rerun: str = "failed",
    ) -> Run:
        folder = self.folder / id
        checked = Checked("", Meta("play", "A play."))
        file = RunFile(id=id, name="play", description="A play.", session="s")
        chosen = Chosen(read_past(folder), rerun) if resumes else None
        journal = Journal(folder)
        write_run(folder, file, checked.source)
        order = Launched(
            file=file,
            checked=checked,
            folder=folder,
            script=folder / "script.js",
            allowed=allowed,
            chosen=chosen,
        )
        return self.book.launch(order, journal, self.ports(script))

    async def through(self, script: Script, **more: Any) -> Run:
        """Run it to its end, with all that is cleaned up behind it."""
        run = self.launch(script, **more)
        async with asyncio.timeout(PATIENCE):
            await run.gone.wait()
        return run

    async def close(self) -> None:
        await self.book.close()
        self.scheduler.close()


def result(run: Run) -> Any:
    """What it returned, where that was no text."""
    assert run.result, run.why
    return msgspec.json.decode(run.result)
