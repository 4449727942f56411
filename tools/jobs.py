"""Background jobs of one session: every end is told exactly once, and none outlives `close`."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from collections.abc import Callable, Sequence

from gatewright.tools.protocol import Job

ENDED_KEPT = 50


class BackgroundJobs:
    """Implements tools.protocol.Jobs.

    `ended` gets the sentence the model should read when a job is over and no tool result told it;
    `changed` hears of every start and end.
    """

    def __init__(self, ended: Callable[[str], None], changed: Callable[[], None]) -> None:
        self._ended = ended
        self._changed = changed
        self._numbers = itertools.count(1)
        self._jobs: dict[str, Job] = {}
        self._watchers: dict[str, asyncio.Task[None]] = {}
        self._told: set[str] = set()
        self._waited: Counter[str] = Counter()

    def adopt(self, job: Job) -> str:
        id = f"{job.kind}-{next(self._numbers)}"
        self._jobs[id] = job
        self._watchers[id] = asyncio.create_task(self._watch(id, job), name=f"watch {id}")
        self._changed()
        return id

    def find(self, id: str) -> Job | None:
        return self._jobs.get(id)

    def running(self) -> Sequence[str]:
        return [f"{id}: {job.title}" for id, job in self._jobs.items() if job.running]

    def told(self, id: str) -> None:
        if id in self._jobs:
            self._told.add(id)

    async def wait(self, id: str, seconds: float) -> None:
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
            if not job.running:  # a cancelled waiter told nobody
                self._tell(id, job)

    async def _watch(self, id: str, job: Job) -> None:
        await job.wait()
        del self._watchers[id]
        if not self._waited[id]:
            self._tell(id, job)
        self._forget_oldest()
        self._changed()

    def _tell(self, id: str, job: Job) -> None:
        if id not in self._told:
            self._told.add(id)
            self._ended(
                f"Background task {id} ({_short(job.title)}) ended: {job.status()}."
                " TaskOutput shows what it printed."
            )

    def _forget_oldest(self) -> None:
        ended = [id for id, job in self._jobs.items() if not job.running]
        for id in ended[: max(0, len(ended) - ENDED_KEPT)]:
            del self._jobs[id]
            self._told.discard(id)
            del self._waited[id]

    async def close(self) -> None:
        """Stop everything that runs; nothing is told any more."""
        self._told.update(self._jobs)
        await asyncio.gather(*(job.stop() for job in self._jobs.values() if job.running))
        await asyncio.gather(*self._watchers.values())


def _short(title: str) -> str:
    line = " ".join(title.split())
    return line if len(line) <= 80 else line[:77] + "..."
