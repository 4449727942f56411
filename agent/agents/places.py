"""How many agents work at once: those beyond wait in line, first come first served.

Who waits for agents of its own gives its place away meanwhile and takes it back at once, so that
parents never keep their own children waiting.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable


class Places:
    def __init__(self, most: Callable[[], int]) -> None:
        self._most = most
        self.taken = 0
        self._line: deque[asyncio.Future[None]] = deque()

    @property
    def free(self) -> bool:
        return self.taken < self._most() and not self._line

    async def take(self) -> None:
        if self.free:
            self.taken += 1
            return
        mine: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._line.append(mine)
        try:
            await mine
        except asyncio.CancelledError:
            if mine in self._line:
                self._line.remove(mine)
            elif not mine.cancelled():
                self.give()
            raise

    def give(self) -> None:
        self.taken -= 1
        while self._line and self.taken < self._most():
            following = self._line.popleft()
            if not following.done():
                self.taken += 1
                following.set_result(None)

    def take_back(self) -> None:
        """What was given away for a while; for a moment there may be one more than usual."""
        self.taken += 1
