"""A child that is talked to: its input, its output and what it says on stderr, each apart.

For what speaks in lines for long (servers) or answers once (hooks). What it says is bounded: a line
that is too long ends the talk, stderr keeps its newest part in a file.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from gatewright.tools.protocol import SpawnRequest, ToolFailure
from gatewright.tools.shell.proc import GroupChild, spawn
from gatewright.tools.system import private

LINE_LIMIT = 16 * 1024 * 1024
WRITE_LIMIT = 30.0  # seconds that a child may leave its input unread


class Channel:
    """Made by `open_channel`; closed by whoever opened it."""

    def __init__(self, child: GroupChild, into: int, errors: Path | None) -> None:
        self._child = child
        self._into = into
        self._rest = bytearray()
        self._sending = asyncio.Lock()
        self.errors = errors

    @property
    def pid(self) -> int:
        return self._child.pid

    async def send(self, data: bytes) -> None:
        """All of it, in order. ToolFailure when the child is gone, or does not read."""
        async with self._sending:
            try:
                async with asyncio.timeout(WRITE_LIMIT):
                    await self._write(memoryview(data))
            except TimeoutError:
                raise ToolFailure("It does not read what it is sent.") from None
            except OSError as error:
                raise ToolFailure(f"It takes no input any more: {error.strerror}.") from error

    async def line(self) -> bytes:
        """The next line without its end; empty at the end. ToolFailure for one beyond the limit."""
        while (end := self._rest.find(b"\n")) < 0:
            if len(self._rest) > LINE_LIMIT:
                raise ToolFailure(f"It sent a line of more than {LINE_LIMIT // 1024**2} MiB.")
            chunk = await self._child.read()
            if not chunk:
                last, self._rest = bytes(self._rest), bytearray()
                return last
            self._rest += chunk
        found = bytes(self._rest[:end])
        del self._rest[: end + 1]
        return found.rstrip(b"\r") or b" "

    def end_input(self) -> None:
        """Nothing more is sent."""
        if self._into >= 0:
            os.close(self._into)
            self._into = -1

    async def wait(self) -> int:
        return await self._child.wait()

    async def close(self, grace: float = 2.0) -> None:
        """End of input first: who listens to that ends by itself."""
        self.end_input()
        await self._child.kill(grace)

    async def _write(self, left: memoryview) -> None:
        loop = asyncio.get_running_loop()
        while left:
            if self._into < 0:
                raise ToolFailure("Its input is closed.")
            try:
                left = left[os.write(self._into, left) :]
            except BlockingIOError:
                ready: asyncio.Future[None] = loop.create_future()
                loop.add_writer(self._into, _settle, ready)
                try:
                    await ready
                finally:
                    loop.remove_writer(self._into)


def _settle(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


async def open_channel(request: SpawnRequest, errors: Path | None = None) -> Channel:
    """Start it; what it says on stderr goes to that file, or nowhere. ToolFailure as `spawn`."""
    from msgspec.structs import replace  # noqa: PLC0415  lazy: 1 ms, with the first child

    theirs, ours = os.pipe()
    log = -1
    try:
        os.set_blocking(ours, False)
        if errors is not None:
            private.folder(errors.parent)
            log = os.open(errors, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        else:
            log = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
        child = await spawn(replace(request, stdin=theirs, errors=log, dies_with_us=True))
    except BaseException:
        os.close(ours)
        raise
    finally:
        os.close(theirs)
        if log >= 0:
            os.close(log)
    return Channel(child, ours, errors)
