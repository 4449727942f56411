"""Replaces a file's bytes, all or none, only where and while they are what the caller saw.

From the last look to the replacement is one synchronous section on one open directory, so a link
swapped in on the way leads to a refusal and never to another file.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Generator
from pathlib import Path

from gatewright.tools.files import fs
from gatewright.tools.files.fs import WHOLE_LIMIT, settled
from gatewright.tools.files.near import missing
from gatewright.tools.protocol import ToolContext, ToolFailure
from gatewright.tools.system.exact import open_directory, real_path
from gatewright.tools.system.regular import kind_of


def change(path: Path, expected: bytes | None, data: bytes, ctx: ToolContext) -> None:
    """Write `data` to a file that still holds `expected` (None: there is none) and note it.

    Links stay links, mode and owner are kept. A file with several hard links, or in a directory
    that cannot be written, is rewritten in place.
    """
    target = settled(path, ctx)
    try:
        with _directory(target.parent, make=expected is None) as directory:
            _replace(directory, target.name, expected, data)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR) and real_path(target) != str(target):
            raise ToolFailure(_moved(path)) from None
        raise ToolFailure(f"Cannot write {path}: {error.strerror}.") from None
    except _Changed:
        raise ToolFailure(_moved(path)) from None
    ctx.ledger.note(path, data)


def changeable(path: Path, ctx: ToolContext) -> bytes:
    """The bytes of a file that is as the model has read it and can be written; else ToolFailure."""
    try:
        real = settled(path, ctx)
        old = fs.reading(real)
    except FileNotFoundError:
        raise missing(path, ctx) from None
    if reason := ctx.ledger.stale(path, old):
        raise ToolFailure(reason)
    writable(real)
    return old


def writable(path: Path) -> None:
    """ToolFailure for a file that says it must not be changed."""
    try:
        locked = not path.stat().st_mode & 0o222 or not os.access(path, os.W_OK)
    except OSError as error:
        raise ToolFailure(f"Cannot write {path}: {error.strerror}.") from None
    if locked:
        raise ToolFailure(_locked(path.name))


def _locked(name: str) -> str:
    return f"{name} is read-only. Change its mode first if that is wanted."


def _moved(path: Path) -> str:
    return f"{path} changed just now. Read it again before changing it."


class _Changed(Exception):
    """Not what the caller saw any more."""


@contextlib.contextmanager
def _directory(path: Path, *, make: bool) -> Generator[int, None, None]:
    """The open directory that really is at `path`, no link followed on the way."""
    fd = open_directory(path, make=make)
    try:
        yield fd
    finally:
        os.close(fd)


def _replace(directory: int, name: str, expected: bytes | None, data: bytes) -> None:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        fd = os.open(name, flags, dir_fd=directory)
    except FileNotFoundError:
        if expected is not None:
            raise _Changed from None
        _swap(directory, name, data, None)
        return
    with open(fd, "rb") as file:  # noqa: PTH123  a descriptor
        info = os.fstat(fd)
        if not stat.S_ISREG(info.st_mode):
            raise ToolFailure(f"{name} is {kind_of(info.st_mode)}, not a regular file.")
        if expected is None or file.read(WHOLE_LIMIT + 1) != expected:
            raise _Changed
    if not info.st_mode & 0o222 or not os.access(name, os.W_OK, dir_fd=directory):
        raise ToolFailure(_locked(name))
    if info.st_nlink > 1 or not os.access(".", os.W_OK | os.X_OK, dir_fd=directory):
        _overwrite(directory, name, data)
    else:
        _swap(directory, name, data, info)


def _swap(directory: int, name: str, data: bytes, info: os.stat_result | None) -> None:
    temporary = f".{name[:100]}.{secrets.token_hex(6)}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    mode = 0o666 if info is None else 0o600  # the umask applies to a new file
    fd = os.open(temporary, flags, mode, dir_fd=directory)
    try:
        with open(fd, "wb") as file:  # noqa: PTH123  a descriptor
            file.write(data)
            if info is not None:
                with contextlib.suppress(PermissionError):  # another owner's file in our group
                    os.fchown(fd, info.st_uid, info.st_gid)
                os.fchmod(fd, stat.S_IMODE(info.st_mode))
            file.flush()
            os.fsync(fd)
        os.rename(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=directory)
        raise


def _overwrite(directory: int, name: str, data: bytes) -> None:
    fd = os.open(name, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=directory)
    with open(fd, "wb") as file:  # noqa: PTH123  a descriptor: mode "wb" does not truncate it
        file.write(data)
        file.truncate()
        file.flush()
        os.fsync(fd)
