"""What a program is given to read, and our ends of pipes it writes to: descriptors of our own.

Nobody has to write while somebody reads, and of what was said a bounded part is kept.
"""

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


class Errors:
    """A pipe for what a program says on stderr: the beginning is kept, the rest drained.

    Of our own, because one that is waited for stays open as long as anybody holds it.
    """

    def __init__(self, keep: int) -> None:
        self._keep = keep
        self._kept = bytearray()
        self._from, self.end = os.pipe()
        self._drain: Drain | None = None

    def __enter__(self) -> Errors:
        self._drain = Drain(self._from, self._add)
        return self

    def __exit__(self, *_: object) -> None:
        self.begun()
        if self._drain is not None:
            self._drain.close()

    def begun(self) -> None:
        """The program has its end of it, or never will."""
        if self.end >= 0:
            os.close(self.end)
            self.end = -1

    def kept(self) -> bytes:
        """What came, and what still lies in the pipe."""
        if self._drain is not None:
            self._drain.rest()
        return bytes(self._kept)

    def _add(self, said: bytes) -> None:
        self._kept += said[: self._keep - len(self._kept)]


def holding(data: bytes) -> int:
    """A descriptor that gives these bytes and ends; nobody has to write while somebody reads."""
    try:
        fd = os.memfd_create("given")
    except (AttributeError, OSError):  # not Linux
        import tempfile  # noqa: PLC0415  lazy: 8 ms

        with tempfile.TemporaryFile() as file:
            fd = os.dup(file.fileno())
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(fd, view) :]
        os.lseek(fd, 0, os.SEEK_SET)
    except BaseException:
        os.close(fd)
        raise
    return fd
