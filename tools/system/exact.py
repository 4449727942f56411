"""Where a path leads, and the opening of exactly that: no link is followed on the way.

Whoever judges a path resolves it once, judges the result, and opens the result. A link swapped in
between then leads to an error and never to another file. Standard library only.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from gatewright.tools.system.regular import NotRegular, open_regular

# An O_PATH descriptor needs no right to list what is only passed through; macOS has none.
_PASSING = os.O_PATH if sys.platform == "linux" else os.O_RDONLY
_STEP = _PASSING | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def real_path(path: str | Path) -> str:
    """Where an absolute path leads, `..` applied after the link it follows; never fails.

    What no system call would take (a NUL, half a character) or follow (a chain of a thousand
    links) comes back as it is: opening it fails, or finds the link.
    """
    try:
        return os.path.realpath(path)
    except (OSError, ValueError, RecursionError):
        return str(path)


def open_directory(real: str | Path, *, make: bool = False) -> int:
    """A descriptor of the directory at a resolved path. OSError where a link is on the way.

    `make` creates what is missing. It need not be possible to list the directory.
    """
    here = os.open("/", _STEP)
    try:
        for part in _parts(real):
            deeper = _step(part, here, make=make)
            os.close(here)
            here = deeper
    except BaseException:
        os.close(here)
        raise
    return here


def _step(part: str, here: int, *, make: bool) -> int:
    try:
        return os.open(part, _STEP, dir_fd=here)
    except FileNotFoundError:
        if not make:
            raise
    with suppress(FileExistsError):  # a link that somebody was faster with is found below
        os.mkdir(part, dir_fd=here)
    return os.open(part, _STEP, dir_fd=here)


def open_exact(real: str | Path) -> BinaryIO:
    """The regular file at a resolved path. OSError as above, NotRegular for anything else."""
    parts = _parts(real)
    if not parts:
        raise NotRegular(f"{real} is a directory, not a regular file")
    directory = open_directory("/" + "/".join(parts[:-1]))
    try:
        return open_regular(parts[-1], follow=False, dir_fd=directory)
    except NotRegular as error:
        info = os.stat(parts[-1], dir_fd=directory, follow_symlinks=False)
        if stat.S_ISLNK(info.st_mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(real)) from None
        raise NotRegular(str(error).replace(parts[-1], str(real), 1)) from None
    finally:
        os.close(directory)


def _parts(real: str | Path) -> list[str]:
    text = str(real)
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        raise OSError(errno.EILSEQ, os.strerror(errno.EILSEQ), text) from None
    if "\0" in text or not text.startswith("/"):
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), text)
    return [part for part in text.split("/") if part not in ("", ".")]
