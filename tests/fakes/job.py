"""Background work that does what the test says."""

from __future__ import annotations

import asyncio

from gatewright.tools.protocol import Progress


class FakeJob:
    kind = "shell"

    def __init__(self, title: str = "sleep", said: str = "one\ntwo\n") -> None:
        self.title = title
        self.said = said
        self.seconds = 12.0
        self.ended = asyncio.Event()
        self.stopped = False

    @property
    def running(self) -> bool:
        return not self.ended.is_set()

    def status(self) -> str:
        if self.running:
            return "running"
        return "stopped" if self.stopped else "exit 0"

    def news(self) -> str:
        return ""

    def output(self) -> str:
        return self.said

    def progress(self) -> Progress:
        return Progress(self.said, len(self.said), self.seconds)

    async def wait(self) -> None:
        await self.ended.wait()  # who waits has a bound

    async def stop(self) -> None:
        self.stopped = True
        self.ended.set()
