"""A lock between processes: a file that is held, dies with its process, and is gone afterwards.

Standard library only.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path


def taken(lock: Path) -> int | None:
    """A descriptor that holds the lock; None while another process does."""
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    held = False
    try:
        with contextlib.suppress(BlockingIOError, FileNotFoundError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            held = os.path.samestat(os.fstat(descriptor), lock.lstat())
    finally:
        if not held:
            os.close(descriptor)
    return descriptor if held else None


def let_go(lock: Path, descriptor: int) -> None:
    with contextlib.suppress(FileNotFoundError):
        lock.unlink()  # while it is held: whoever waits for this very file sees that it went
    os.close(descriptor)
