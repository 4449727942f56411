"""The confined shell that waits for the next command: at most one, and none that nobody needs."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from gatewright.permissions.sandbox.running.launches import Launches, Order
from gatewright.permissions.sandbox.running.standby import Standby

IDLE = 60.0  # seconds after which nobody seems to need it


class NextRun:
    """Keeps it ready for what the next run would be made of."""

    def __init__(self, launches: Launches, idle: float = IDLE) -> None:
        self._launches, self._idle = launches, idle
        self._standby: Standby | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._leaving: set[asyncio.Task[None]] = set()

    @property
    def waits(self) -> bool:
        return self._standby is not None

    def prepare(self, order: Order, shell: Sequence[str]) -> None:
        """Have one wait for a command that would be run so. Needs a loop."""
        if not (self._fits(order, shell) and self._standby is not None and self._standby.holds):
            self.drop()
            self._standby = Standby(self._launches, order, shell)
        self._still()
        self._timer = asyncio.get_running_loop().call_later(self._idle, self.drop)

    def take(self, order: Order, shell: Sequence[str]) -> Standby | None:
        """The one that waits, if it was made of what the next would be; whoever takes it ends it.

        Whether it is what was made is looked at when it is told its command.
        """
        if not self._fits(order, shell):
            self.drop()
            return None
        found, self._standby = self._standby, None
        self._still()
        return found

    def _fits(self, order: Order, shell: Sequence[str]) -> bool:
        found = self._standby
        return found is not None and found.shell == tuple(shell) and found.order == order

    def drop(self) -> None:
        """It is not what would be made now, or is not needed."""
        found, self._standby = self._standby, None
        self._still()
        if found is not None:
            self.leave(found)

    def _still(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def leave(self, standby: Standby) -> None:
        """Nobody waits for the end of one that was taken, either."""
        task = asyncio.get_running_loop().create_task(standby.dropped())
        self._leaving.add(task)
        task.add_done_callback(self._leaving.discard)

    def end(self) -> None:
        """Nothing of it is left, here and now: there may be no loop any more."""
        found, self._standby = self._standby, None
        self._still()
        if found is not None:
            found.end()

    async def over(self) -> None:
        """The same, once all that was dropped has ended."""
        self.end()
        if self._leaving:
            await asyncio.gather(*self._leaving, return_exceptions=True)
