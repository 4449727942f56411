"""One watched command: its lines become notices while it runs, its end is the last, once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

from gatewright.agent.autonomy.monitor.line_notices import Events
from gatewright.agent.text.in_time import Late
from gatewright.tools.protocol import Progress

SLOW = "stopped: its pattern takes too long"
FLOODED = "stopped: too much output for half a minute"


class Watched(Protocol):
    """The command as a job of its own, which tells what it prints."""

    heard: Callable[[bytes], object] | None

    @property
    def title(self) -> str: ...
    @property
    def running(self) -> bool: ...
    def status(self) -> str: ...
    def news(self) -> str: ...
    def output(self) -> str: ...
    def progress(self) -> Progress: ...
    async def wait(self) -> None: ...
    async def stop(self) -> None: ...


class Watch:
    """Implements Job. `tell` is given the text of a notice, in order, the last one at the end."""

    kind = "monitor"

    def __init__(
        self,
        job: Watched,
        description: str,
        events: Events,
        tell: Callable[[str], object],
        *,
        seconds: float | None,
    ) -> None:
        self._job, self._events, self._tell = job, events, tell
        self._description = description
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._why = ""
        self._asked, self._over = asyncio.Event(), asyncio.Event()
        self.notices = 0
        job.heard = self._heard
        self._task = asyncio.create_task(self._run(seconds), name="monitor")

    @property
    def title(self) -> str:
        return self._description

    @property
    def running(self) -> bool:
        return not self._over.is_set()

    def status(self) -> str:
        return "running" if self.running else self._why or self._job.status()

    def news(self) -> str:
        return self._job.news()

    def output(self) -> str:
        return self._job.output()

    def progress(self) -> Progress:
        return self._job.progress()

    async def wait(self) -> None:
        await self._over.wait()

    async def stop(self) -> None:
        self._end_with("stopped")
        await self._over.wait()

    def _heard(self, data: bytes) -> None:
        now = self._loop.time()
        if self._why:
            return  # it is being ended; its pipe is read to the end all the same
        try:
            self._events.feed(data, now)
        except Late:
            self._end_with(SLOW)
        if self._events.flooded(now):
            self._end_with(FLOODED)
        if self._timer is None and (due := self._events.due) is not None:
            self._timer = self._loop.call_at(due, self._due)

    def _due(self) -> None:
        self._timer = None
        self._give(self._events.take(self._loop.time()))

    def _give(self, text: str) -> None:
        if text:
            self.notices += 1
            self._tell(text)

    def _end_with(self, why: str) -> None:
        """Said of it once; then it is ended."""
        if not self._why and self.running:
            self._why = why
            self._asked.set()

    async def _run(self, seconds: float | None) -> None:
        """It may be asked to end before this has begun."""
        ways = {asyncio.ensure_future(each()) for each in (self._job.wait, self._asked.wait)}
        try:
            await asyncio.wait(ways, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if self._job.running and not self._why:
                self._why = f"stopped after {seconds:g} s"
        finally:
            for each in ways:
                each.cancel()
            await self._job.stop()
            self._last()

    def _last(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        now, events = self._loop.time(), self._events
        if not self._why:
            events.end(now)
        rest = events.take(now, last=True)
        held = f"[{events.left_out} suppressed]" if events.left_out else ""
        status = self._why or self._job.status()
        end = f"[ended: {status}, {events.lines} lines in all]"
        self._over.set()
        self._give("\n".join(filter(None, (rest, held, end))))
