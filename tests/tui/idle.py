"""When the screen has done all it had to do: what the driver of tests waits for after each key.

The driver's own way is to sleep until the process uses next to nothing of the processor: 40 ms for
each key, a second where something is animated, and another result on a busy machine.
"""

from __future__ import annotations

import asyncio
import time
from asyncio import AbstractEventLoop

SOON = 0.05  # seconds: what is due within them belongs to the key, as painting does
MANY = 10_000  # callbacks in a row, after which something keeps itself busy


async def wait_for_idle(_least: float = SOON, most: float = 1.0) -> None:
    """Until nothing is ready to run, no timer is due soon, and no thread works for the loop.

    A thread may wait for the test itself, and is not waited for longer than for a timer.
    """
    loop = asyncio.get_running_loop()
    end = loop.time() + most
    window = loop.time() + SOON
    while loop.time() < end:
        await _drained(loop)
        if _threads_work(loop) and loop.time() < window:
            await asyncio.sleep(0.001)
            continue
        due = _next_timer(loop)
        if due is None or due > window:
            return
        await asyncio.sleep(max(0.0, due - loop.time()))


class Skipping:
    """Lets a loop's time pass without waiting for it: what is due meanwhile is done, in order."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._ahead = 0.0

    async def past(self, seconds: float) -> None:
        vars(self._loop)["time"] = lambda: time.monotonic() + self._ahead
        end = self._loop.time() + seconds
        while True:
            await wait_for_idle()
            due = _next_timer(self._loop)
            to = end if due is None else min(due, end)
            self._ahead += max(0.0, to - self._loop.time())
            if to == end:
                break
        await wait_for_idle()


async def _drained(loop: AbstractEventLoop) -> None:
    for _ in range(MANY):
        await asyncio.sleep(0)
        if not vars(loop)["_ready"]:
            return


def _next_timer(loop: AbstractEventLoop) -> float | None:
    handles: list[asyncio.TimerHandle] = vars(loop)["_scheduled"]
    return min((handle.when() for handle in handles if not handle.cancelled()), default=None)


def _threads_work(loop: AbstractEventLoop) -> bool:
    """Threads of the loop's own pool, which are counted where they wait for more."""
    pool = vars(loop)["_default_executor"]
    if pool is None:
        return False
    idle: int = pool._idle_semaphore._value
    return bool(pool._work_queue.qsize()) or idle < len(pool._threads)
