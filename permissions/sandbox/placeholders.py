"""Stand-ins for protected names that do not exist: empty directories, there only around a run.

A stand-in is known by its time stamp, so one that a killed run left behind is recognised. Runs of
one process share them by counting; processes agree by a lock on the directory they lie in. They
may outlast a run a little, because the next one mostly follows at once.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from gatewright.permissions.sandbox.janitor import STAMP_NS


@dataclass(slots=True)
class Placeholders:
    """Counts who needs which stand-in; `standing` are all that were made and not yet removed."""

    standing: set[str] = field(default_factory=set[str])
    _needed: Counter[str] = field(default_factory=Counter[str])
    _users: Counter[str] = field(default_factory=Counter[str])
    _locks: dict[str, int] = field(default_factory=dict[str, int])

    def put(self, paths: Iterable[str], roots: tuple[str, ...]) -> tuple[str, ...]:
        """Make the stand-ins; returns what was made or shared, for `take`."""
        held: list[str] = []
        for root in roots:
            self._lock(root)
            self._users[root] += 1
        for path in paths:
            parent = os.path.dirname(path)
            if parent in self.standing or not os.path.lexists(parent):
                self._hold(parent, held)
            self._hold(path, held)
        return tuple(held)

    def _hold(self, path: str, held: list[str]) -> None:
        self._lock(os.path.dirname(path))
        known = path in self.standing and os.path.lexists(path)
        if known or _make(path) or is_placeholder(path):
            self.standing.add(path)
            self._needed[path] += 1
            held.append(path)

    def take(self, held: Iterable[str], roots: tuple[str, ...]) -> None:
        """A run is over; `sweep` removes what nobody needs any more."""
        self._users.subtract(roots)
        self._needed.subtract(held)

    def sweep(self) -> tuple[str, ...]:
        """Remove the stand-ins that nobody needs; returns them."""
        free: dict[str, list[str]] = {}
        above = {os.path.dirname(path) for path in self.standing}
        for path in self.standing:
            if self._needed[path] <= 0:
                free.setdefault(os.path.dirname(path), []).append(path)
        for directory, paths in sorted(free.items(), reverse=True):  # what lies below comes first
            if self.alone((directory,)):
                for path in paths:
                    if path not in above and not is_placeholder(path):
                        continue  # somebody made it anew
                    with contextlib.suppress(OSError):
                        os.rmdir(path)
        gone = tuple(path for paths in free.values() for path in paths)
        self.standing.difference_update(gone)
        for path in gone:
            del self._needed[path]
        for directory in [place for place in self._locks if not self._used(place)]:
            os.close(self._locks.pop(directory))
        return gone

    def _used(self, directory: str) -> bool:
        if self._users[directory] > 0:
            return True
        return any(os.path.dirname(path) == directory for path in self.standing)

    def _lock(self, directory: str) -> None:
        if directory in self._locks:
            return
        with contextlib.suppress(OSError):
            lock = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            self._locks[directory] = lock
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)

    def alone(self, directories: tuple[str, ...]) -> bool:
        """Whether no other process runs something in these; it would clean up itself."""
        return all(_alone(self._locks.get(directory, -1)) for directory in directories)


def _alone(lock: int) -> bool:
    if lock < 0:
        return True
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    return True


def _make(path: str) -> bool:
    try:
        os.mkdir(path, 0o755)
        os.utime(path, ns=(STAMP_NS, STAMP_NS))
    except OSError:
        return False
    return True


def is_placeholder(path: str) -> bool:
    """Whether a run made it, this one or another: a directory with our time stamp."""
    try:
        return os.lstat(path).st_mtime_ns == STAMP_NS
    except OSError:
        return False
