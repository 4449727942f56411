"""The order in which questions are put to the person: one at a time, and each in its turn.

Those of the turn that the person waits for come before those of background work; one that is
shown is never replaced.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager


class PromptQueue:
    """`waits` hears of every agent that begins to wait for its answer, and that it has it."""

    def __init__(self, urgent: Callable[[str], bool], waits: Callable[[str, bool], object]) -> None:
        self._urgent = urgent
        self._waits = waits
        self._shown = False
        self._first: deque[asyncio.Future[None]] = deque()
        self._later: deque[asyncio.Future[None]] = deque()

    @asynccontextmanager
    async def turn(self, agent: str) -> AsyncGenerator[None]:
        self._waits(agent, True)
        try:
            await self._come(self._first if self._urgent(agent) else self._later)
            try:
                yield
            finally:
                self._go_on()
        finally:
            self._waits(agent, False)

    async def _come(self, line: deque[asyncio.Future[None]]) -> None:
        if not self._shown:
            self._shown = True
            return
        mine: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        line.append(mine)
        try:
            await mine
        except asyncio.CancelledError:
            if mine in line:
                line.remove(mine)
            elif not mine.cancelled():  # it was its turn just now
                self._go_on()
            raise

    def _go_on(self) -> None:
        """The next one's turn, past those that wait no more."""
        for line in (self._first, self._later):
            while line:
                following = line.popleft()
                if not following.done():
                    following.set_result(None)
                    return
        self._shown = False
