"""What waits until a message is on its way: the model is asked before anything is painted."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

ROUNDS = 3  # of the loop, in which a request leaves


class Afterwards:
    """Whoever takes keys waits for `sending`: no key is taken before what was put off."""

    def __init__(self) -> None:
        self._later: list[Callable[[], None]] | None = None  # None: nothing is put off

    def then(self, work: Callable[[], None]) -> None:
        """Do this once what was sent is on its way."""
        if self._later is None:
            work()
        else:
            self._later.append(work)

    def settle(self) -> None:
        """Do now what was put off."""
        later, self._later = self._later, None
        for work in later or ():
            work()

    async def sending(self, act: Callable[[], None]) -> None:
        self._later = []
        try:
            act()
            for _ in range(ROUNDS if self._later else 0):
                await asyncio.sleep(0)
        finally:
            self.settle()
