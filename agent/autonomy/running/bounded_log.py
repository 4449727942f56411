"""What a background session says on its standard streams: a file that never grows beyond a limit.

The streams become a pipe, which a thread empties: whoever writes to them never waits for the disk.
"""

from __future__ import annotations

import contextlib
import os
import threading
from pathlib import Path

from gatewright.tools.system import private

LIMIT = 1024 * 1024
CHUNK = 64 * 1024
LAST = 2.0  # seconds for what was written last


def opened(path: Path) -> int:
    """A descriptor that appends; nobody but the person can read the file."""
    private.folder(path.parent)
    return private.opener(str(path), os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW)


class BoundedLog:
    """Takes descriptors 1 and 2 until `close`."""

    def __init__(self, path: Path, limit: int = LIMIT) -> None:
        self._path, self._limit = path, limit
        self._file = opened(path)
        self._size = os.fstat(self._file).st_size
        self._before = [os.dup(fd) for fd in (1, 2)]
        reading, writing = os.pipe()
        for fd in (1, 2):
            os.dup2(writing, fd)
        os.close(writing)
        self._reading = reading
        self._thread = threading.Thread(target=self._run, name="log", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """What was written by now is in the file; later words go where they went before."""
        for fd, before in zip((1, 2), self._before, strict=True):
            os.dup2(before, fd)  # the last writing ends of the pipe, unless a child has one
            os.close(before)
        self._thread.join(LAST)

    def _run(self) -> None:
        while data := os.read(self._reading, CHUNK):
            with contextlib.suppress(OSError):  # a full disk: the session goes on
                self._write(data)
        os.close(self._reading)

    def _write(self, data: bytes) -> None:
        if self._size + len(data) > self._limit // 2:
            self._turn_over()
        self._size += os.write(self._file, data)

    def _turn_over(self) -> None:
        """Another file takes over. Raises OSError: none can be had, and the one before is full."""
        with contextlib.suppress(FileNotFoundError):  # somebody took it away
            self._path.replace(self._path.with_suffix(".log.before"))
        another = opened(self._path)
        os.close(self._file)  # not before: its number may be another file's at once
        self._file, self._size = another, 0


def read_back(path: Path) -> bytes:
    """All that is kept of it, the oldest first."""
    found = b""
    for each in (path.with_suffix(".log.before"), path):
        with contextlib.suppress(OSError):
            found += each.read_bytes()
    return found
