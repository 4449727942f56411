"""Once a day, when a turn is over: lets go of sessions that are older than the person wants."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from gatewright.agent.events import AnyEvent, TurnEnded

DAY = 86_400.0


class Housekeeping:
    """Fed with the session's events. Does nothing before the first turn has ended."""

    def __init__(self, home: Path, *, days: int, now: Callable[[], float] = time.time) -> None:
        self._home = home
        self._days = days
        self._now = now
        self._task: asyncio.Task[None] | None = None

    def saw(self, event: AnyEvent) -> None:
        if isinstance(event, TurnEnded) and self._days and self._task is None:
            self._task = asyncio.create_task(asyncio.to_thread(self._work), name="housekeeping")

    async def settled(self) -> None:
        """Wait until what was begun is done."""
        if self._task is not None:
            await asyncio.wait([self._task])

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await self.settled()

    def _work(self) -> None:
        from gatewright.agent.transcript.upkeep import let_go  # noqa: PLC0415  lazy: 1 ms

        stamp = self._home / "state" / "cleaned"
        now = self._now()
        with suppress(OSError):  # a home that cannot be written is told elsewhere
            if not stamp.exists() or now - stamp.stat().st_mtime >= DAY:
                stamp.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                stamp.touch()
                let_go(self._home, days=self._days, now=now)
