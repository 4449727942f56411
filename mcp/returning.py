"""Coming back to a server whose connection was lost: a few tries, each later than the last."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress

from gatewright.mcp.errors import NotConnected

TRIES, PAUSE = 5, 1.0  # each pause is twice the one before
HEALTHY = 60.0  # seconds after which a loss is the first one again


class Returning:
    """`ready` connects, or raises NotConnected."""

    def __init__(self, ready: Callable[[], Awaitable[object]]) -> None:
        self._ready = ready
        self._tries = 0
        self._since = 0.0
        self._task: asyncio.Task[None] | None = None

    @property
    def tries(self) -> bool:
        return self._task is not None and not self._task.done()

    @property
    def goes_on(self) -> bool:
        """It will be tried again."""
        return self.tries and self._tries < TRIES

    def connected(self) -> None:
        self._since = time.monotonic()

    def lost(self) -> None:
        if time.monotonic() - self._since >= HEALTHY:
            self._tries = 0
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._try(), name="coming back to an MCP server")

    async def stop(self) -> None:
        task, self._task = self._task, None
        if task is not None and not task.done() and task is not asyncio.current_task():
            task.cancel()
            await asyncio.wait([task])

    async def _try(self) -> None:
        while self._tries < TRIES:
            pause = PAUSE * 2**self._tries * random.uniform(0.8, 1.2)
            self._tries += 1
            await asyncio.sleep(pause)
            with suppress(NotConnected):
                await self._ready()
                return
