"""Opens directories below a root without following any link on the way.

What a command left may still be changed by another one that runs: names are not resolved twice.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Generator
from contextlib import contextmanager

_FLAGS = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def directory(path: str, roots: tuple[str, ...]) -> Generator[int, None, None]:
    """A descriptor of the directory `path`. Raises OSError when it is not beneath a root."""
    root = next((root for root in roots if path == root or path.startswith(root + "/")), "")
    if not root:
        raise FileNotFoundError(f"{path} is outside")
    here = os.open(root, _FLAGS)
    try:
        for part in path[len(root) :].split("/"):
            if part:
                deeper = os.open(part, _FLAGS, dir_fd=here)
                os.close(here)
                here = deeper
        yield here
    finally:
        os.close(here)


def read(name: str, fd: int, most: int) -> bytes:
    """The beginning of a plain file in an open directory; OSError for a link."""
    handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=fd)
    with os.fdopen(handle, "rb") as file:
        return file.read(most)


def write_new(name: str, fd: int, data: bytes) -> None:
    """A new file in an open directory; OSError when the name is taken, also by a link."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(name, flags, 0o644, dir_fd=fd), "wb") as file:
        file.write(data)


def make(path: str, root: str) -> None:
    """The directory `path` below `root`, with what is missing above it. Raises OSError."""
    here = os.open(root, _FLAGS)
    try:
        for part in path[len(root) :].split("/"):
            if part:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(part, dir_fd=here)
                deeper = os.open(part, _FLAGS, dir_fd=here)
                os.close(here)
                here = deeper
    finally:
        os.close(here)


def unlock(path: str) -> None:
    """Let ourselves into a directory of ours whose mode shuts us out. Raises OSError."""
    handle = os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        status = os.fstat(handle)
        if status.st_uid == os.geteuid():
            os.chmod(f"/proc/self/fd/{handle}", stat.S_IMODE(status.st_mode) | stat.S_IRWXU)
    finally:
        os.close(handle)
