"""The text of files on the disk: opened and replaced through descriptors, no link followed.

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
from typing import BinaryIO

from gatewright.tools.protocol import ToolFailure
from gatewright.tools.system.exact import open_directory, open_exact, real_path
from gatewright.tools.system.regular import NotRegular, kind_of
from gatewright.tools.textfiles import FileMoved

WHOLE_LIMIT = 64 * 1024 * 1024  # files above are read in parts and not changed by Edit or Write


class DiskFiles:
    """Implements tools.textfiles.TextFiles.

    Links stay links, mode and owner are kept. A file with several hard links, or in a directory
    that cannot be written, is rewritten in place.
    """

    def opened(self, real: Path) -> BinaryIO:
        try:
            return open_exact(real)
        except FileNotFoundError:
            raise
        except NotRegular as error:
            raise ToolFailure(f"{error}.") from None
        except OSError as error:
            if real_path(real) != str(real):
                raise ToolFailure(f"{real} became a link just now. Call again.") from None
            raise ToolFailure(f"Cannot read {real}: {error.strerror}.") from None

    def writable(self, real: Path) -> None:
        try:
            locked = not real.stat().st_mode & 0o222 or not os.access(real, os.W_OK)
        except OSError as error:
            raise ToolFailure(f"Cannot write {real}: {error.strerror}.") from None
        if locked:
            raise ToolFailure(_locked(real.name))

    def swap(self, real: Path, expected: bytes | None, data: bytes) -> None:
        with _directory(real.parent, make=expected is None) as directory:
            _replace(directory, real.name, expected, data)


DISK = DiskFiles()


def _locked(name: str) -> str:
    return f"{name} is read-only. Change its mode first if that is wanted."


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
            raise FileMoved from None
        _swap(directory, name, data, None)
        return
    with open(fd, "rb") as file:  # noqa: PTH123  a descriptor
        info = os.fstat(fd)
        if not stat.S_ISREG(info.st_mode):
            raise ToolFailure(f"{name} is {kind_of(info.st_mode)}, not a regular file.")
        if expected is None or file.read(WHOLE_LIMIT + 1) != expected:
            raise FileMoved
    if not info.st_mode & 0o222 or not os.access(name, os.W_OK, dir_fd=directory):
        raise ToolFailure(_locked(name))
    if info.st_nlink > 1 or not os.access(".", os.W_OK | os.X_OK, dir_fd=directory):
        _overwrite(directory, name, data, info)
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


def _overwrite(directory: int, name: str, data: bytes, info: os.stat_result) -> None:
    """Only the very file that was looked at: another may have its name by now, or a FIFO."""
    flags = os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        fd = os.open(name, flags, dir_fd=directory)
    except OSError as error:
        if error.errno in (errno.ENXIO, errno.ENOENT, errno.ELOOP, errno.EISDIR):
            raise FileMoved from None
        raise
    with open(fd, "wb") as file:  # noqa: PTH123  a descriptor: mode "wb" does not truncate it
        if not os.path.samestat(os.fstat(fd), info):
            raise FileMoved
        file.write(data)
        file.truncate()
        file.flush()
        os.fsync(fd)
