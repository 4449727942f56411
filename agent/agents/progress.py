"""What agents are at, told to who watches: at most four times a second each, and the last always.

Nothing runs while nothing changes: who is idle wakes nobody.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from gatewright.agent.agents.life import Life
from gatewright.agent.record.events import AgentProgressed

BETWEEN = 0.25


class Telling:
    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        publish: Callable[[AgentProgressed, str], object],
    ) -> None:
        self._publish, self._loop = publish, loop
        self._last: dict[str, float] = {}
        self._due: dict[str, asyncio.TimerHandle] = {}

    def tell(self, life: Life) -> None:
        if life.path in self._due or not life.running:
            return
        since = self._loop.time() - self._last.get(life.path, -1.0)
        if since >= BETWEEN:
            self._now(life)
            return
        later = self._loop.call_later(BETWEEN - since, self._now, life)
        self._due[life.path] = later

    def _now(self, life: Life) -> None:
        self._due.pop(life.path, None)
        if life.running:
            self._last[life.path] = self._loop.time()
            self._publish(life.progressed(), life.path)

    def forget(self, path: str) -> None:
        self._last.pop(path, None)
        if (due := self._due.pop(path, None)) is not None:
            due.cancel()

    def close(self) -> None:
        for path in list(self._due):
            self.forget(path)
