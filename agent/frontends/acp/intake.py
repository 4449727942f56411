"""Lines from a descriptor, read in a thread, none longer than a limit: one that is gets skipped.

Unlike the reader of print mode, which ends there: an editor must not lose its sessions by one line.
"""

from __future__ import annotations

import asyncio
import os
import threading
from contextlib import suppress

import msgspec

CHUNK = 256 * 1024
LIMIT = 16 * 1024 * 1024
WAITING = 16  # lines held before the reader pauses


class Received(msgspec.Struct, frozen=True):
    data: bytes = b""
    too_long: bool = False


class Skipping:
    """Takes chunks, gives whole lines; of one that is too long only that it was."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._pieces: list[bytes] = []
        self._size = 0

    def add(self, chunk: bytes) -> list[Received]:
        found: list[Received] = []
        *whole, last = chunk.split(b"\n")
        for piece in whole:
            self._keep(piece)
            found.append(self.rest())
        self._keep(last)
        return found

    def rest(self) -> Received:
        """The line so far, which begins anew."""
        long, data = self._size > self._limit, b"".join(self._pieces)
        self._pieces, self._size = [], 0
        return Received(b"" if long else data, long)

    def _keep(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > self._limit:
            self._pieces.clear()
        elif piece:
            self._pieces.append(piece)


class Intake:
    """`next` gives one line; None once the input has ended."""

    def __init__(self, fd: int, limit: int = LIMIT) -> None:
        self._fd, self.limit = fd, limit
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[Received | None] = asyncio.Queue()
        self._room = threading.Semaphore(WAITING)
        self._ended = False
        threading.Thread(target=self._run, name="input", daemon=True).start()

    async def next(self) -> Received | None:
        if self._ended:
            return None
        line = await self._lines.get()
        self._room.release()
        self._ended = line is None
        return line

    def _run(self) -> None:
        lines = Skipping(self.limit)
        with suppress(OSError):  # whoever goes away ends the input like any other end
            while chunk := os.read(self._fd, CHUNK):
                for line in lines.add(chunk):
                    self._put(line)
        last = lines.rest()
        if last.data or last.too_long:
            self._put(last)
        self._put(None)

    def _put(self, line: Received | None) -> None:
        self._room.acquire()
        with suppress(RuntimeError):  # the loop has ended meanwhile
            self._loop.call_soon_threadsafe(self._lines.put_nowait, line)
