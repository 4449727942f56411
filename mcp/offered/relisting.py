"""Listing anew what a server says has changed: bursts once, and no change is missed.

A change that is heard while the list is on its way may not be in it, so it is listed once more. A
server that goes on changing is looked at less and less often.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress

from gatewright.mcp.errors import Lost, Refused

BURST = 0.25  # seconds: changes that come together
RARELY = 8.0


class Relisting:
    """`listed` asks the server; while it fails the old list stays."""

    def __init__(self, listed: Callable[[], Awaitable[None]]) -> None:
        self._listed = listed
        self._changed = False
        self._pause = BURST
        self._last = 0.0
        self._task: asyncio.Task[None] | None = None

    def heard(self) -> None:
        self._changed = True
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._work(), name="listing tools")

    async def stop(self) -> None:
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _work(self) -> None:
        while self._changed:
            quiet = time.monotonic() - self._last > 2 * self._pause
            self._pause = BURST if quiet else min(2 * self._pause, RARELY)
            await asyncio.sleep(self._pause)
            self._changed = False
            with suppress(Lost, Refused, TimeoutError):
                await self._listed()
            self._last = time.monotonic()
