"""A clock that moves only when a test says so."""

from __future__ import annotations

import asyncio
import math

from tests.fakes.waiting import PATIENCE

EPOCH = 1_750_000_000.0


class FakeClock:
    """Implements `Clock` of the record; sleepers wake in the order of their deadlines."""

    def __init__(self, start: float = EPOCH) -> None:
        self._start = start
        self._elapsed = 0.0
        self._sleepers: list[tuple[float, asyncio.Future[None]]] = []
        self._joined = asyncio.Event()
        self.slept: list[float] = []  # every delay that was asked for

    def time(self) -> float:
        return self._start + self._elapsed

    def monotonic(self) -> float:
        return self._elapsed

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        waiting = asyncio.get_running_loop().create_future()
        entry = (self._elapsed + seconds, waiting)
        self._sleepers.append(entry)
        self._joined.set()
        try:
            await waiting
        finally:
            if entry in self._sleepers:
                self._sleepers.remove(entry)

    @property
    def sleeping(self) -> int:
        return len(self._sleepers)

    async def until_sleeping(self, count: int = 1, *, within: float = PATIENCE) -> None:
        """Wait until `count` tasks sleep: then time may be moved without a race."""
        async with asyncio.timeout(within):
            while len(self._sleepers) < count:
                self._joined.clear()
                await self._joined.wait()

    async def advance(self, seconds: float) -> None:
        """Move time; every sleeper that is due runs on before this returns."""
        target = self._elapsed + seconds
        while due := [entry for entry in self._sleepers if entry[0] <= target]:
            first = min(due, key=lambda entry: entry[0])
            self._elapsed = max(self._elapsed, first[0])
            self._sleepers.remove(first)
            first[1].set_result(None)
            await _settle()
        self._elapsed = target
        await _settle()


class LoopTime:
    """The time of the running loop, which from now on passes only as it is told."""

    STEP = 0.5

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self._now = float(math.ceil(loop.time()))
        vars(loop)["time"] = lambda: self._now

    async def passes(self, seconds: float) -> None:
        """All that falls due meanwhile happens, in its order."""
        end = self._now + seconds
        while self._now < end:
            self._now = min(end, self._now + self.STEP)
            await _settle()


async def _settle() -> None:
    """Let woken tasks run until they wait for something else."""
    for _ in range(5):
        await asyncio.sleep(0)
