"""One sandboxed run: what was prepared for it, and taking all of it away when it ended."""

from __future__ import annotations

import contextlib
import json
import os
import select
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

END_SECONDS, SOON_SECONDS = 2.0, 0.03


class Run(msgspec.Struct):
    """Owns the descriptors and the control group of one run."""

    args_fd: int = -1
    filter_fd: int = -1
    status_read: int = -1
    status_write: int = -1
    group: tuple[str, ...] = ()
    options: list[str] = msgspec.field(
        default_factory=list[str]
    )  # of the launcher: what is mounted
    extra_fds: list[int] = msgspec.field(default_factory=list[int])
    closers: list[Callable[[], object]] = msgspec.field(default_factory=list[Callable[[], object]])
    _first: int = 0

    def fds(self) -> tuple[int, ...]:
        given = (self.args_fd, self.filter_fd, self.status_write, *self.extra_fds)
        return tuple(fd for fd in given if fd >= 0)

    def close(self) -> bool:
        """Wait for the last process and close; False when something would not end."""
        over = not self.init() or self._ended(END_SECONDS)
        for fd in (
            self.args_fd,
            self.filter_fd,
            self.status_read,
            self.status_write,
            *self.extra_fds,
        ):
            if fd >= 0:
                with contextlib.suppress(OSError):
                    os.close(fd)
        self.args_fd = self.filter_fd = self.status_read = self.status_write = -1
        self.extra_fds.clear()
        for closer in self.closers:
            closer()
        self.closers.clear()
        for group in self.group:
            with contextlib.suppress(OSError):
                Path(group).rmdir()
        return over

    def over(self) -> bool:
        """Whether everything is surely gone; one that was killed while it was made may hang."""
        return self.init() > 0 and self._ended(SOON_SECONDS)

    def _ended(self, seconds: float) -> bool:
        """The first process of the sandbox is its init: when it is gone, so is everything."""
        try:
            handle = os.pidfd_open(self.init())
        except (AttributeError, OSError):
            return True
        try:
            return bool(select.select([handle], [], [], seconds)[0])
        finally:
            os.close(handle)

    def init(self) -> int:
        """The first process of the sandbox; 0 where there is none, or none yet."""
        if self._first or self.status_read < 0:
            return self._first
        try:
            first = os.read(self.status_read, 4096).partition(b"\n")[0]
            found: Any = json.loads(first)
            self._first = int(found["child-pid"])
        except (OSError, ValueError, LookupError, TypeError):
            return 0
        return self._first


def memory_file(name: str, data: bytes) -> int:
    """An inheritable descriptor to read `data` from, without a file on any disk."""
    fd = os.memfd_create(name, os.MFD_CLOEXEC)
    os.write(fd, data)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def status_pipe() -> tuple[int, int]:
    reader, writer = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    return reader, writer


class Active(msgspec.Struct):
    """A run in progress, and who hears what came of it."""

    run: Run
    command: str
    roots: tuple[str, ...]
    told: Callable[[list[str]], None] | None
    already: list[str]  # found when it was about to start
    makes: frozenset[str] = frozenset()  # because a person said so
