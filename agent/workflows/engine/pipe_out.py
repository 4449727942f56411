"""Our end of the pipe that the worker reads: written in order, and never waited for."""

from __future__ import annotations

import asyncio
import os
from collections import deque


class PipeOut:
    """Owns `fd`. What cannot be written any more is dropped: whoever reads the worker hears why.

    Nobody waits: who sends may be the one who reads, and a worker that is not read does not read.
    """

    def __init__(self, fd: int) -> None:
        os.set_blocking(fd, False)
        self._fd = fd
        self._loop = asyncio.get_running_loop()
        self._unsent: deque[memoryview] = deque()

    def send(self, line: bytes) -> None:
        if self._fd < 0:
            return
        self._unsent.append(memoryview(line))
        if len(self._unsent) == 1:
            self._write()

    def _write(self) -> None:
        while self._unsent:
            try:
                sent = os.write(self._fd, self._unsent[0])
            except BlockingIOError:
                self._loop.add_writer(self._fd, self._write)
                return
            except OSError:
                self.close()
                return
            if sent < len(self._unsent[0]):
                self._unsent[0] = self._unsent[0][sent:]
            else:
                self._unsent.popleft()
        self._loop.remove_writer(self._fd)

    def close(self) -> None:
        if self._fd >= 0:
            self._loop.remove_writer(self._fd)
            os.close(self._fd)
            self._fd = -1
        self._unsent.clear()
