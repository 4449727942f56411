"""A lock between processes: a file that is held, dies with its process, and is gone afterwards.

Standard library only.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Generator
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


@contextlib.contextmanager
def held(lock: Path, *, wait: bool = True) -> Generator[bool]:
    """Hold the lock meanwhile, waiting for who has it; the file stays where it is.

    Without `wait` it says whether it was free. For a moment's work, or in a thread of its own.
    """
    descriptor = waited(lock, wait=wait)
    try:
        yield descriptor >= 0
    finally:
        if descriptor >= 0:
            os.close(descriptor)


def waited(lock: Path, *, wait: bool = True) -> int:
    """A descriptor that holds the lock until it is closed; -1 where it is not waited for."""
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return -1
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def busy(file: Path) -> bool:
    """Whether a process holds the lock of this file, now. Others may look at the same moment."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # a file system without locks
        return False
    finally:
        os.close(descriptor)
    return False


def let_go(lock: Path, descriptor: int) -> None:
    with contextlib.suppress(FileNotFoundError):
        lock.unlink()  # while it is held: whoever waits for this very file sees that it went
    os.close(descriptor)
