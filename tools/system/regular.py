"""The one way to read a file that somebody else may have written: a regular one, and so much of it.

A FIFO, a device or a socket is never opened for long, a link loop is an error, and what was
checked is what is read: a descriptor, not a path looked up again. Standard library only.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import BinaryIO


class NotRegular(OSError):
    """There is something, and it is no regular file."""


class TooLarge(OSError):
    """More bytes than the caller takes."""


def open_regular(path: str | Path, *, follow: bool = True, dir_fd: int | None = None) -> BinaryIO:
    """The file opened for reading. OSError where there is none, NotRegular for anything else."""
    return open(regular_fd(path, follow=follow, dir_fd=dir_fd), "rb")


def regular_fd(path: str | Path, *, follow: bool = True, dir_fd: int | None = None) -> int:
    """The same as a bare descriptor, which whoever asks closes: what is checked is what is read."""
    _check(path, os.stat(path, dir_fd=dir_fd, follow_symlinks=follow))  # a device acts when opened
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
    fd = os.open(path, flags if follow else flags | os.O_NOFOLLOW, dir_fd=dir_fd)
    try:
        _check(path, os.fstat(fd))
    except BaseException:
        os.close(fd)
        raise
    return fd


def read_regular(path: str | Path, limit: int, *, follow: bool = True) -> bytes:
    """All of it, or TooLarge: nobody who asks for a whole file can use a part."""
    with open_regular(path, follow=follow) as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise TooLarge(f"{path} has more than {limit:,} bytes")
    return data


def head_of(path: str | Path, limit: int, *, follow: bool = True) -> bytes:
    """The first bytes, for who can use a part."""
    with open_regular(path, follow=follow) as file:
        return file.read(limit)


def kind_of(mode: int) -> str:
    """ "a directory", "a FIFO", ...: what a path is that is no regular file."""
    kinds = (
        (stat.S_ISDIR, "a directory"),
        (stat.S_ISFIFO, "a FIFO"),
        (stat.S_ISSOCK, "a socket"),
        (stat.S_ISCHR, "a character device"),
        (stat.S_ISBLK, "a block device"),
    )
    return next((name for test, name in kinds if test(mode)), "a special file")


def _check(path: str | Path, info: os.stat_result) -> None:
    if not stat.S_ISREG(info.st_mode):
        raise NotRegular(f"{path} is {kind_of(info.st_mode)}, not a regular file")
