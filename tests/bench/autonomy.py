"""What schedules cost: an idle session with 50 jobs, how late a slot fires, adding a job.

`python tests/bench/autonomy.py [--seconds N]`. The clock, the timer of the kernel, the store and
the files are the real ones; what a run would say to a model is counted and not sent.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from gatewright.agent.autonomy.schedules.alarm import Alarm
from gatewright.agent.autonomy.schedules.schedule import Schedule, SchedulePorts
from gatewright.agent.autonomy.schedules.store import Store, store_of
from gatewright.agent.autonomy.schedules.timing import Terms
from gatewright.agent.record.events_of_schedules import ScheduledJob

JOBS = 50


class Bench:
    def __init__(self, folder: Path) -> None:
        self.fired: list[float] = []
        self.alarm, self._news = Alarm(), asyncio.Event()
        store = Store(store_of(folder, Path("/project")), Path("/project"))
        self.schedule = Schedule(
            SchedulePorts(
                session="bench",
                time=time.time,
                terms=Terms,
                may=lambda: "",
                publish=lambda _: None,
                kept=_nothing,
                deliver=self._deliver,
                tell=print,
                store=store,
            ),
            self.alarm,
        )

    async def _deliver(self, run: str, job: ScheduledJob, text: str) -> str:
        del run, text
        self.fired.append(time.time() - job.last_slot)
        self._news.set()
        return ""

    async def all(self, count: int) -> None:
        while len(self.fired) < count:
            self._news.clear()
            await self._news.wait()


async def _nothing() -> None:
    pass


@asynccontextmanager
async def bench() -> AsyncGenerator[Bench]:
    with tempfile.TemporaryDirectory() as folder:
        made = Bench(Path(folder))
        try:
            yield made
        finally:
            await made.schedule.close()
            made.alarm.close()


async def idle(seconds: float) -> None:
    """Fifty jobs, none of them due: how often it wakes, and what it takes of the processor."""
    async with bench() as made:
        began = time.perf_counter()
        for number in range(JOBS):
            job = ScheduledJob(id="", prompt=f"look {number}", cron="0 4 1 1 *", tz="UTC")
            made.schedule.add(job)
        per_job = (time.perf_counter() - began) / JOBS
        await asyncio.sleep(1.0)
        before, used = made.alarm.woken, time.process_time()
        await asyncio.sleep(seconds)
        woken, used = made.alarm.woken - before, time.process_time() - used
    print(
        f"{JOBS} jobs, idle {seconds:g} s: woken {woken} times, {used * 1000:.1f} ms of processor"
    )
    print(f"adding one: {per_job * 1000:.2f} ms")


async def late(slots: int) -> None:
    """How long after its moment a slot is claimed on disk and handed on."""
    async with bench() as made:
        for number in range(slots):
            when = float(int(time.time()) + 2 + number)
            durable = number % 2 == 0
            job = ScheduledJob(id="", prompt="now", at=when, once=True, tz="UTC", durable=durable)
            made.schedule.add(job)
        await made.all(slots)
    worst, middle = max(made.fired), sorted(made.fired)[slots // 2]
    print(f"{slots} slots: handed on {middle * 1000:.1f} ms after, {worst * 1000:.1f} ms at worst")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=75.0)
    parser.add_argument("--slots", type=int, default=10)
    given = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f}")
    asyncio.run(idle(given.seconds))
    asyncio.run(late(given.slots))


if __name__ == "__main__":
    main()
