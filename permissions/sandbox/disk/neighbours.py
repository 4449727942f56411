"""Whether other processes run something in the same directories: told by locks on them."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections import Counter
from collections.abc import Iterable

import msgspec


class Neighbours(msgspec.Struct):
    """Holds a shared lock on each directory in which a run of ours goes on."""

    _users: Counter[str] = msgspec.field(default_factory=Counter[str])
    _locks: dict[str, int] = msgspec.field(default_factory=dict[str, int])

    def join(self, roots: Iterable[str]) -> None:
        for root in roots:
            self._users[root] += 1
            if root not in self._locks:
                with contextlib.suppress(OSError):
                    lock = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
                    self._locks[root] = lock
                    fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)

    def leave(self, roots: Iterable[str]) -> None:
        for root in roots:
            self._users[root] -= 1
            if self._users[root] <= 0:
                del self._users[root]
                if root in self._locks:
                    os.close(self._locks.pop(root))

    def alone(self, roots: Iterable[str]) -> bool:
        """Whether no other process runs something in these."""
        return all(_alone(self._locks.get(root, -1)) for root in roots)


def _alone(lock: int) -> bool:
    if lock < 0:
        return True
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    return True
