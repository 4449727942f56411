"""Stand-ins for protected names that do not exist: empty directories, there only during a run.

A stand-in is known by its time stamp, so one that a killed run left behind is recognised and
removed by the next; several runs of one process share them, several processes agree by a lock.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

STAMP = 1_000_000_007  # seconds: no file has this very time by chance, with no fraction


@dataclass(slots=True)
class Placeholders:
    """Counts who needs which stand-in."""

    _needed: Counter[str] = field(default_factory=Counter[str])
    _locks: dict[str, int] = field(default_factory=dict[str, int])

    def put(self, paths: Iterable[str]) -> tuple[str, ...]:
        """Make the stand-ins; returns what was needed, parents included, for `take`."""
        held: list[str] = []
        for path in paths:
            parent = os.path.dirname(path)
            for each in (parent, path):
                if each == parent and os.path.lexists(parent) and not self._needed[parent]:
                    continue
                if self._needed[each] or _make(each) or is_placeholder(each):
                    self._needed[each] += 1
                    self._lock(each)
                    held.append(each)
        return tuple(held)

    def take(self, held: Iterable[str]) -> None:
        """Remove the stand-ins that nobody needs any more."""
        for path in reversed(tuple(held)):
            self._needed[path] -= 1
            if self._needed[path] > 0:
                continue
            del self._needed[path]
            lock = self._locks.pop(path, -1)
            if lock < 0:
                continue
            with contextlib.suppress(OSError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if is_placeholder(path):
                    os.rmdir(path)
            os.close(lock)

    def _lock(self, path: str) -> None:
        if path not in self._locks:
            with contextlib.suppress(OSError):
                lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
                self._locks[path] = lock
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)


def _make(path: str) -> bool:
    try:
        os.mkdir(path, 0o755)
        os.utime(path, ns=(STAMP * 10**9, STAMP * 10**9))
    except OSError:
        return False
    return True


def is_placeholder(path: str) -> bool:
    """Whether an earlier run made it: empty, with our time stamp."""
    try:
        status = os.lstat(path)
        return status.st_mtime_ns == STAMP * 10**9 and not os.listdir(path)
    except OSError:
        return False
