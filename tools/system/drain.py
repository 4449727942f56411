"""Our end of a pipe that a program writes to: read as fast as it fills, so nobody waits."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

CHUNK = 64 * 1024
LEFT = 16  # pieces taken at once: more than a pipe holds; who goes on writing is not awaited


class Drain:
    """Owns `fd` and closes it at its end; `take` gets every piece."""

    def __init__(self, fd: int, take: Callable[[bytes], None]) -> None:
        os.set_blocking(fd, False)
        self._fd, self._take = fd, take
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(fd, self._next)

    def rest(self) -> None:
        """Take what lies in the pipe now."""
        for _ in range(LEFT):
            if not self._next():
                break

    def close(self) -> None:
        """Somebody who was left behind may still have the other end open."""
        if self._fd >= 0:
            self._loop.remove_reader(self._fd)
            os.close(self._fd)
            self._fd = -1

    def _next(self) -> bool:
        """Whether there was something."""
        if self._fd < 0:
            return False
        try:
            said = os.read(self._fd, CHUNK)
        except BlockingIOError:
            return False
        except OSError:
            said = b""
        if said:
            self._take(said)
        else:
            self.close()
        return bool(said)
