"""Background work of a session: owned from start to end, its end told to the model exactly once."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager

from gatewright.agent.commands.tasks import TaskRow
from gatewright.agent.errors import GatewrightError
from gatewright.agent.record.events import TasksChanged
from gatewright.tools.protocol import Job

KEPT = 100  # ended jobs that can still be looked at
STOP_LIMIT = 5.0


class SessionJobs:
    """All jobs, each with its owner. `tell` reaches the owner's model, `changed` the screen."""

    def __init__(
        self, tell: Callable[[str, str], object], changed: Callable[[TasksChanged], object]
    ) -> None:
        self._tell = tell
        self._changed = changed
        self._next = 1
        self._jobs: dict[str, Job] = {}
        self._owners: dict[str, str] = {}
        self._watchers: dict[str, asyncio.Task[None]] = {}
        self._told: set[str] = set()
        self._waited: Counter[str] = Counter()  # calls that are waiting for the end just now
        self._closing = False
        self._movable: list[asyncio.Event] = []  # of the calls that run in the foreground

    def of(self, agent: str) -> OwnJobs:
        """The jobs as calls of this agent see them: its own."""
        return OwnJobs(self, agent)

    def adopt(self, job: Job, owner: str) -> str:
        """Own the job from now on and return its id."""
        id, self._next = f"{job.kind}_{self._next}", self._next + 1
        self._jobs[id], self._owners[id] = job, owner
        self._watchers[id] = asyncio.create_task(self._watch(id, job), name=f"watch {id}")
        self._changed(TasksChanged(running=tuple(self.running())))
        self._forget_oldest()
        return id

    def find(self, id: str, owner: str) -> Job | None:
        return self._jobs.get(id) if self._owners.get(id) == owner else None

    def running(self, owner: str = "") -> Sequence[str]:
        """One line for each running job, its id first; of all owners unless one is meant."""
        return [
            f"{id}: {job.title}"
            for id, job in self._jobs.items()
            if job.running and owner in ("", self._owners[id])
        ]

    @contextmanager
    def foreground(self) -> Generator[asyncio.Event]:
        """Entered while a call could go on in the background; set once the person wants that."""
        wish = asyncio.Event()
        self._movable.append(wish)
        try:
            yield wish
        finally:
            self._movable.remove(wish)

    def to_background(self) -> int:
        """Let every call that can go on in the background; how many can."""
        for wish in self._movable:
            wish.set()
        return len(self._movable)

    def told(self, id: str) -> None:
        """The model learned the end from a tool result: no notice any more."""
        self._told.add(id)

    async def wait(self, id: str, seconds: float) -> None:
        """Wait for the end up to a limit; an end met here counts as told."""
        job = self._jobs[id]
        self._waited[id] += 1
        try:
            async with asyncio.timeout(seconds):
                await job.wait()
            self._told.add(id)
        except TimeoutError:
            return
        finally:
            self._waited[id] -= 1
            if not job.running:  # a waiter that was interrupted told nobody
                self._report(id, job)

    def rows(self) -> Sequence[TaskRow]:
        """What runs and what has ended, the newest first."""
        return [_row(id, job) for id, job in reversed(self._jobs.items())]

    def known(self, id: str) -> Job:
        """Raises GatewrightError where there is none of that name."""
        job = self._jobs.get(id)
        if job is None:
            running = ", ".join(line.partition(":")[0] for line in self.running())
            raise GatewrightError(f"There is no task {id}. Running: {running or 'none'}.")
        return job

    async def stop(self, id: str) -> str:
        """End a job as the person wants it; the model is told. Raises GatewrightError."""
        job = self.known(id)
        if job.running:
            try:
                async with asyncio.timeout(STOP_LIMIT):
                    await job.stop()
            except TimeoutError as error:
                raise GatewrightError(
                    f"{id} does not end; it is ended with the session."
                ) from error
        return job.status()

    async def close(self) -> None:
        """Stop what still runs; nothing is told any more: who goes on hears of it then."""
        self._closing = True
        self._told.update(self._jobs)
        running = [job for job in self._jobs.values() if job.running]
        stopping = [asyncio.ensure_future(job.stop()) for job in running]
        pending = [*stopping, *self._watchers.values()]
        if pending:
            _, late = await asyncio.wait(pending, timeout=STOP_LIMIT)
            for task in late:
                task.cancel()

    async def _watch(self, id: str, job: Job) -> None:
        await job.wait()
        del self._watchers[id]
        if self._closing:
            return
        self._changed(TasksChanged(running=tuple(self.running()), ended=id, status=job.status()))
        if not self._waited[id]:
            self._report(id, job)

    def _report(self, id: str, job: Job) -> None:
        if id not in self._told:
            self._told.add(id)
            self._tell(
                self._owners[id],
                f"Background {job.kind} {id} ({job.title}) has ended: {job.status()}. "
                f"TaskOutput with task_id {id} shows what it printed.",
            )

    def _forget_oldest(self) -> None:
        ended = [id for id, job in self._jobs.items() if not job.running]
        for id in ended[: max(0, len(ended) - KEPT)]:
            del self._jobs[id], self._owners[id]
            self._told.discard(id)
            del self._waited[id]


class OwnJobs:
    """Implements the `Jobs` port of tools for one agent."""

    def __init__(self, all: SessionJobs, owner: str) -> None:
        self._all = all
        self._owner = owner
        self.foreground, self.told, self.wait = all.foreground, all.told, all.wait

    def adopt(self, job: Job) -> str:
        return self._all.adopt(job, self._owner)

    def find(self, id: str) -> Job | None:
        return self._all.find(id, self._owner)

    def running(self) -> Sequence[str]:
        return self._all.running(self._owner)


def _row(id: str, job: Job) -> TaskRow:
    now = job.progress()
    last = now.tail.rstrip().rpartition("\n")[2]
    return TaskRow(id, job.title, job.status(), job.running, now.seconds, last)
