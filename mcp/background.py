"""A call of a tool that may go on in the background: as a job, whose end is told once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import nullcontext

import msgspec

from gatewright.tools.access import MAIN
from gatewright.tools.protocol import (
    Progress,
    TextContent,
    ToolContext,
    ToolResult,
)

LOOK = 1.0  # seconds between two looks at a call that takes long
MOST = 30_000  # characters that are kept of its result
OTHER = "[A picture or a file, which only a call that is waited for gives.]"
STOPPED = 2.0  # seconds that a stopped call may take to end
Calling = Callable[[ToolContext], Awaitable[ToolResult]]
MOVED = (
    "It goes on in the background as {id}: TaskOutput shows what it gives, TaskStop ends it. "
    "Its end will be told."
)


class CallJob:
    """Implements `Job`."""

    kind = "mcp"

    def __init__(self, title: str, calling: Calling, ctx: ToolContext) -> None:
        self.title = title
        self._began = time.monotonic()
        self._last = Progress("")
        self._ctx = ctx
        self._told = False
        self.heard: Callable[[Progress], None] = ctx.progress
        given = msgspec.structs.replace(ctx, progress=self._hear)
        self.task = asyncio.ensure_future(calling(given))

    def _hear(self, progress: Progress) -> None:
        self._last = progress
        self.heard(msgspec.structs.replace(progress, movable=self._ctx.jobs is not None))

    @property
    def running(self) -> bool:
        return not self.task.done()

    def status(self) -> str:
        if self.running:
            return "running"
        if self.task.cancelled():
            return "stopped"
        return "done" if self.task.exception() is None and self.task.result().ok else "failed"

    def news(self) -> str:
        if self.running or self._told:
            return ""
        self._told = True
        return self.output()

    def output(self) -> str:
        if self.running or self.task.cancelled():
            return self._last.tail
        if (error := self.task.exception()) is not None:
            return str(error)
        result = self.task.result()
        parts = result.parts or result.content
        text = "\n".join(part.text if isinstance(part, TextContent) else OTHER for part in parts)
        return (
            text if len(text) <= MOST else f"{text[:MOST]}\n[{len(text) - MOST:,} more characters]"
        )

    def progress(self) -> Progress:
        seconds = time.monotonic() - self._began
        return Progress(self._last.tail, seconds=seconds, movable=self._ctx.jobs is not None)

    async def wait(self) -> None:
        await asyncio.wait([self.task])

    async def stop(self) -> None:
        self.task.cancel()
        await asyncio.wait([self.task], timeout=STOPPED)


async def watched(
    job: CallJob, ctx: ToolContext, *, seconds: float, paused: Callable[[], bool]
) -> AsyncGenerator[Progress | ToolResult, None]:
    """Its news and its result; after so many seconds, or when the person says so, it goes on alone.

    0 seconds: by itself it never does. While it is `paused`, it waits for the person.
    """
    after = seconds if seconds and ctx.agent == MAIN else float("inf")
    owned, waited = True, 0.0
    try:
        with ctx.jobs.foreground() if ctx.jobs else nullcontext(asyncio.Event()) as leave:
            leaving = asyncio.ensure_future(leave.wait())
            try:
                while job.running and not leave.is_set() and (waited < after or not ctx.jobs):
                    began = time.monotonic()
                    await asyncio.wait(
                        [job.task, leaving],
                        timeout=min(LOOK, max(0.01, after - waited)),
                        return_when=asyncio.FIRST_COMPLETED,
                    )
                    waited += 0.0 if paused() else time.monotonic() - began
                    if job.running and waited >= LOOK:
                        yield job.progress()
            finally:
                leaving.cancel()
        if job.running and ctx.jobs is not None:
            owned, job.heard = False, _nobody
            id = ctx.jobs.adopt(job)
            text = MOVED.format(id=id)
            yield ToolResult.text(text, summary=f"background {id}", data={"backgroundTaskId": id})
            return
        yield job.task.result()
    finally:
        if owned and job.running:
            await job.stop()


def _nobody(progress: Progress) -> None:
    """Who looks at the job asks it."""
    del progress
