"""Ends a stream that has gone silent, and says so before it does.

`fed` costs one assignment or two and runs for every piece; a timer looks at it now and then.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import TracebackType

QUIET = 20.0  # seconds of silence before the person hears of it
EVERY = 1.0


class Watchdog:
    """`async with Watchdog(...) as dog:` raises TimeoutError after `limit` seconds unfed.

    Signs of life keep it quiet for `patience` seconds, no longer: then it is `starved`, too.
    `quiet` is called every second of a long silence, with its length so far. The loop's clock
    stands still while the machine sleeps, so a closed lid is no silence.
    """

    def __init__(self, limit: float, patience: float, quiet: Callable[[float], None]) -> None:
        self._limit = limit
        self._patience = patience
        self.starved = False
        self._quiet = quiet
        self._loop = asyncio.get_running_loop()
        self._last = self._moved = self._loop.time()
        self._timeout = asyncio.timeout(None)
        self._timer: asyncio.TimerHandle | None = None

    def fed(self, *, content: bool) -> None:
        """Something came; `content` where it is more than a sign of life."""
        self._last = self._loop.time()
        if content:
            self._moved = self._last

    async def __aenter__(self) -> Watchdog:
        await self._timeout.__aenter__()
        self._look_in(min(QUIET, self._limit, self._patience))
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()
        await self._timeout.__aexit__(kind, error, trace)

    def _look_in(self, seconds: float) -> None:
        self._timer = self._loop.call_later(seconds, self._look)

    def _look(self) -> None:
        now = self._loop.time()
        silent, left = now - self._last, self._patience - (now - self._moved)
        self.starved = left <= 0 and silent < self._limit
        if silent >= self._limit or self.starved:
            self._timeout.reschedule(now)
        elif silent >= QUIET:
            self._quiet(silent)
            self._look_in(min(EVERY, self._limit - silent, left))
        else:
            self._look_in(min(min(QUIET, self._limit) - silent, left))
