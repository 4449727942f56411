"""What a program is given to read, and what it says on stderr: descriptors of our own.

Nobody has to write while somebody reads, and what was said is bounded.
"""

from __future__ import annotations

import os

from gatewright.tools.system.drain import Drain


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
