"""What a session does once beside its turns, in a thread: clean up after others and itself."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from gatewright.agent.record.events import AnyEvent
from gatewright.agent.settings.workspace import Surroundings
from gatewright.tools.system import private

DAY = 86_400.0


class Once:
    """Something that is begun once in a session, and ended with it."""

    def __init__(self) -> None:
        self._task: asyncio.Task[object] | None = None

    async def settled(self) -> None:
        """Wait until what was begun is done."""
        if self._task is not None:
            await asyncio.wait([self._task])

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await self.settled()


class Housekeeping(Once):
    """Fed with the session's events; works once, at the first event of the kind."""

    def __init__(self, when: type[AnyEvent], work: Callable[[], object]) -> None:
        self._when = when
        self._work = work
        super().__init__()

    def saw(self, event: AnyEvent) -> None:
        if isinstance(event, self._when) and self._task is None:
            self._task = asyncio.create_task(asyncio.to_thread(self._work), name="housekeeping")


def cleaning(around: Surroundings) -> Callable[[], None]:
    """The work of a session that is stored and leaves room for others."""
    days = 0 if around.options.no_session else around.settings.cleanup_period_days
    return partial(let_old_sessions_go, around.places.home, days=days)


def let_old_sessions_go(home: Path, *, days: int, now: Callable[[], float] = time.time) -> None:
    """Once a day; with no days, never."""
    from gatewright.agent.transcript.upkeep import let_go  # noqa: PLC0415  lazy: 1 ms

    stamp, moment = home / "state" / "cleaned", now()
    with suppress(OSError):  # a home that cannot be written is told elsewhere
        if days and (not stamp.exists() or moment - stamp.stat().st_mtime >= DAY):
            private.write(stamp, b"")
            let_go(home, days=days, now=moment)
