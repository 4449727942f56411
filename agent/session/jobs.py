"""Background work of a session: owned from start to end, its end told to the model exactly once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager

import msgspec

from gatewright.agent.commands.registry import TaskRow
from gatewright.agent.errors import GatewrightError
from gatewright.agent.record.events import TasksChanged
from gatewright.tools.abilities import Paid, Reporting, Spending
from gatewright.tools.access import MAIN
from gatewright.tools.protocol import Job

KEPT = 100  # ended jobs that can still be looked at
STOP_LIMIT = 5.0


class _Kept(msgspec.Struct, kw_only=True, eq=False):
    """One job from start to end. While it is attended, the call that started it tells its end."""

    id: str
    job: Job
    owner: str
    attended: bool = False
    told: bool = False
    muted: bool = False  # nothing is told of it for now
    waited: int = 0  # calls that are waiting for the end just now


class SessionJobs:
    """All jobs, each with its owner. `tell` reaches the owner's model, `changed` the screen."""

    def __init__(
        self, tell: Callable[[str, str], object], changed: Callable[[TasksChanged], object]
    ) -> None:
        self._tell = tell
        self._changed = changed
        self._next = 1
        self._jobs: dict[str, _Kept] = {}
        self._watchers: dict[_Kept, asyncio.Task[None]] = {}
        self._closing = False
        # Of the calls that run in the foreground, with the agent that made them.
        self._movable: list[tuple[str, asyncio.Event]] = []
        self._ends: dict[str, asyncio.Event] = {}  # by owner, for who waits for any of its jobs
        self._preparing: dict[asyncio.Task[None], tuple[str, str]] = {}

    @property
    def closing(self) -> bool:
        """The session ends, and all jobs with it."""
        return self._closing

    def of(self, agent: str) -> OwnJobs:
        """The jobs as calls of this agent see them: its own."""
        return OwnJobs(self, agent)

    def adopt(self, job: Job, owner: str, *, attended: bool = False) -> str:
        """Own the job from now on and return its id: its own, where it has one."""
        if isinstance(job, Reporting):
            id = job.id
            self._jobs.pop(id, None)  # an earlier run of the same agent
        else:
            id, self._next = f"{job.kind}_{self._next}", self._next + 1
        kept = self._jobs[id] = _Kept(id=id, job=job, owner=owner, attended=attended)
        self._watchers[kept] = asyncio.create_task(self._watch(kept), name=f"watch {id}")
        if not attended:
            self._changed(TasksChanged(running=tuple(self.running())))
        self._forget_oldest()
        return id

    def released(self, id: str) -> None:
        """The call that attended it goes on without it: its end is told like any other."""
        if (kept := self._jobs.get(id)) is not None and kept.attended:
            kept.attended = False
            self._changed(TasksChanged(running=tuple(self.running())))

    def find(self, id: str, owner: str) -> Job | None:
        kept = self._jobs.get(id)
        return kept.job if kept is not None and kept.owner == owner else None

    def running(self, owner: str = "") -> Sequence[str]:
        """One line for each running job, its id first; of all owners unless one is meant."""
        return [
            f"{kept.id}: {kept.job.title}"
            for kept in self._jobs.values()
            if kept.job.running and not kept.attended and owner in ("", kept.owner)
        ]

    def side_by_side(self) -> bool:
        """Whether anything works beside the turn: a job, or two agents that it waits for."""
        working = [kept for kept in self._jobs.values() if kept.job.running]
        return len(working) > 1 or any(not kept.attended for kept in working)

    @contextmanager
    def foreground(self, owner: str = MAIN) -> Generator[asyncio.Event]:
        """Entered while a call could go on in the background; set once the person wants that."""
        wish = asyncio.Event()
        entry = owner, wish
        self._movable.append(entry)
        try:
            yield wish
        finally:
            self._movable.remove(entry)

    def to_background(self) -> int:
        """Let every call of the main agent that can go on in the background; how many can.

        What those below it wait for goes along with them.
        """
        wishes = [wish for owner, wish in self._movable if owner == MAIN]
        for wish in wishes:
            wish.set()
        return len(wishes)

    def told(self, id: str) -> None:
        """The model learned the end from a tool result: no notice any more."""
        if (kept := self._jobs.get(id)) is not None:
            kept.told = True

    def mute(self, id: str, *, muted: bool) -> None:
        """Tell its owner nothing of its end, or again what it was not told meanwhile."""
        if (kept := self._jobs.get(id)) is None:
            return
        kept.muted = muted
        if not kept.job.running and not kept.waited:
            self._report(kept)

    async def wait(self, id: str, seconds: float) -> None:
        """Wait for the end up to a limit; an end met here counts as told."""
        kept = self._jobs[id]
        kept.waited += 1
        try:
            async with asyncio.timeout(seconds):
                await kept.job.wait()
            kept.told = True
        except TimeoutError:
            return
        finally:
            kept.waited -= 1
            if not kept.job.running:  # a waiter that was interrupted told nobody
                self._report(kept)

    def unfinished(self, owner: str) -> bool:
        """Whether a job of that agent runs, or has an end that it was not told yet."""
        return bool(self.kinds_open(owner))

    def kinds_open(self, owner: str) -> frozenset[str]:
        """Of which kinds those are."""
        mine = (kept for kept in self._watchers if kept.owner == owner and not kept.attended)
        soon = (kind for kind, whose in self._preparing.values() if whose == owner)
        return frozenset((*(kept.job.kind for kept in mine), *soon))

    def preparing(self, work: asyncio.Task[None], kind: str, owner: str = MAIN) -> None:
        """Until it is over a job of that kind may begin: who waits for those waits for it too."""
        self._preparing[work] = kind, owner
        work.add_done_callback(self._prepared)

    def _prepared(self, work: asyncio.Task[None]) -> None:
        _, owner = self._preparing.pop(work)
        if (end := self._ends.get(owner)) is not None:
            end.set()

    def end_of_any(self, owner: str) -> asyncio.Event:
        """Set at the next end of a job of that agent; for the only one who waits for it."""
        return self._ends.setdefault(owner, asyncio.Event())

    def rows(self) -> Sequence[TaskRow]:
        """What runs and what has ended, the newest first."""
        return [_row(kept.id, kept.job) for kept in reversed(self._jobs.values())]

    def known(self, id: str) -> Job:
        """Raises GatewrightError where there is none of that name."""
        kept = self._jobs.get(id)
        if kept is None:
            running = ", ".join(line.partition(":")[0] for line in self.running())
            raise GatewrightError(f"There is no task {id}. Running: {running or 'none'}.")
        return kept.job

    async def stop(self, id: str) -> str:
        """End a job as the person wants it; the model is told. Raises GatewrightError."""
        job = self.known(id)
        if job.running:
            if isinstance(job, Reporting):
                job.dismiss()
            try:
                async with asyncio.timeout(STOP_LIMIT):
                    await job.stop()
            except TimeoutError as error:
                raise GatewrightError(
                    f"{id} does not end; it is ended with the session."
                ) from error
        return job.status()

    async def stop_of(self, owner: str) -> Sequence[str]:
        """End all that belongs to an agent, which is told nothing any more; a line for each."""
        self._ends.pop(owner, None)
        own = [kept for kept in self._jobs.values() if kept.owner == owner]
        for kept in own:
            kept.told = True
        left = [kept for kept in own if kept.job.running]
        if left:
            stopping = [asyncio.ensure_future(kept.job.stop()) for kept in left]
            _, late = await asyncio.wait(stopping, timeout=STOP_LIMIT)
            for task in late:
                task.cancel()
        return [f"{kept.id}: {kept.job.title}" for kept in left]

    async def close(self) -> None:
        """Stop what still runs; nothing is told any more: who goes on hears of it then."""
        self._closing = True
        for kept in self._jobs.values():
            kept.told = True
        running = [kept.job for kept in self._jobs.values() if kept.job.running]
        stopping = [asyncio.ensure_future(job.stop()) for job in running]
        pending = [*stopping, *self._watchers.values()]
        if pending:
            _, late = await asyncio.wait(pending, timeout=STOP_LIMIT)
            for task in late:
                task.cancel()

    async def _watch(self, kept: _Kept) -> None:
        await kept.job.wait()
        del self._watchers[kept]
        if self._closing:
            return
        if not kept.attended:
            self._changed(self._end_of(kept))
        if not kept.waited:
            self._report(kept)
        if (waiting := self._ends.get(kept.owner)) is not None:
            waiting.set()

    def _end_of(self, kept: _Kept) -> TasksChanged:
        job, running = kept.job, tuple(self.running())
        status, title, tail = job.status(), job.title, job.progress().tail
        return TasksChanged(running=running, ended=kept.id, status=status, title=title, tail=tail)

    def _report(self, kept: _Kept) -> None:
        if kept.told or kept.attended or kept.muted:
            return
        kept.told = True
        job = kept.job
        if isinstance(job, Reporting):
            self._tell(kept.owner, job.notice())
            return
        where = (
            f"TaskOutput with task_id {kept.id} shows what it printed."
            if kept.owner == MAIN
            else "What it printed is in the file that was named when it started."
        )
        text = f"Background {job.kind} {kept.id} ({job.title}) has ended: {job.status()}. {where}"
        self._tell(kept.owner, text)

    def _forget_oldest(self) -> None:
        ended = [id for id, kept in self._jobs.items() if not kept.job.running]
        for id in ended[: max(0, len(ended) - KEPT)]:
            del self._jobs[id]


class OwnJobs:
    """Implements the `Jobs` port of tools for one agent."""

    def __init__(self, all: SessionJobs, owner: str) -> None:
        self.all, self.owner = all, owner
        self.told, self.wait = all.told, all.wait

    def adopt(self, job: Job) -> str:
        return self.all.adopt(job, self.owner)

    def find(self, id: str) -> Job | None:
        return self.all.find(id, self.owner)

    def running(self) -> Sequence[str]:
        return self.all.running(self.owner)

    @contextmanager
    def foreground(self) -> Generator[asyncio.Event]:
        with self.all.foreground(self.owner) as wish:
            yield wish


def _row(id: str, job: Job) -> TaskRow:
    now = job.progress()
    last = now.tail.rstrip().rpartition("\n")[2]
    row = TaskRow(id, job.title, job.status(), job.running, now.seconds, last, kind=job.kind)
    if isinstance(job, Spending):
        row = msgspec.structs.replace(row, tokens=job.tokens, cost=job.cost)
    return msgspec.structs.replace(row, agent=job.path) if isinstance(job, Paid) else row
