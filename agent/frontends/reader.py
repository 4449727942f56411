"""Lines from a descriptor, read in a thread so that the loop never waits for a person."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from contextlib import suppress

from gatewright.agent.client.framing import MAX_LINE, Lines, TooLong
from gatewright.agent.launch.exits import BadInput

CHUNK = 65536
WAITING = 256  # lines held before the reader pauses


class LineReader:
    """`next` gives one line without its end; None once the input has ended.

    Raises BadInput for a line without end.
    """

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[tuple[str | None, float]] = asyncio.Queue()
        self._room = threading.Semaphore(WAITING)
        self.at = 0.0  # when the line that was given last came in
        self._ended = False
        self._endless = False
        threading.Thread(target=self._run, name="input", daemon=True).start()

    async def next(self) -> str | None:
        if self._ended:
            return None
        line, self.at = await self._lines.get()
        self._room.release()
        self._ended = line is None
        if self._endless:
            raise BadInput(f"A line of standard input has more than {MAX_LINE // 1024**2} MiB.")
        return line

    def _run(self) -> None:
        with suppress(OSError):  # a terminal that went away ends the input like any other end
            self._read()
        self._put(None, time.monotonic())

    def _read(self) -> None:
        lines = Lines(MAX_LINE)
        at = 0.0
        while chunk := os.read(self._fd, CHUNK):
            at = time.monotonic()  # of all that came with it, whenever this thread gets to it
            try:
                for line in lines.add(chunk):
                    self._put(line.decode("utf-8", "replace").removesuffix("\r"), at)
            except TooLong:
                self._endless = True
                return
        if last := lines.rest():
            self._put(last.decode("utf-8", "replace"), at)

    def _put(self, line: str | None, at: float) -> None:
        self._room.acquire()
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._lines.put_nowait, (line, at))
