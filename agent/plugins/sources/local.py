"""A directory of this machine as a source: copied as it is, but for its repository's own files."""

from __future__ import annotations

import os
import stat
from functools import partial
from pathlib import Path
from typing import Final

from gatewright.agent.plugins.sources.limits import SourceError
from gatewright.agent.plugins.sources.writing import TreeWriter
from gatewright.tools.system.regular import NotRegular, kind_of, open_regular

_PIECE: Final = 1024 * 1024
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW
_SET_ID: Final = stat.S_ISUID | stat.S_ISGID


def copied(folder: Path, writer: TreeWriter) -> None:
    """All that lies below it. What is opened is what was looked at, whatever moves meanwhile."""
    try:
        fd = os.open(os.path.realpath(folder), _FOLDER)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise SourceError(f"There is no directory {folder}.") from error
    try:
        _below(fd, "", writer)
    finally:
        os.close(fd)
    writer.finish()


def _below(fd: int, prefix: str, writer: TreeWriter) -> None:
    with os.scandir(fd) as entries:
        names = sorted(entry.name for entry in entries)
    for name in names:
        if name == ".git":
            continue
        path = f"{prefix}{name}"
        info = os.stat(name, dir_fd=fd, follow_symlinks=False)
        if stat.S_ISLNK(info.st_mode):
            writer.link(path, os.readlink(name, dir_fd=fd))
        elif stat.S_ISDIR(info.st_mode):
            _enter(fd, path, writer)
        elif stat.S_ISREG(info.st_mode):
            _file(fd, path, writer)
        else:
            raise SourceError(f"{path} is {kind_of(info.st_mode)}, no file.")


def _enter(fd: int, path: str, writer: TreeWriter) -> None:
    writer.folder(path)
    inner = os.open(path.rpartition("/")[2], _FOLDER, dir_fd=fd)
    try:
        _below(inner, f"{path}/", writer)
    finally:
        os.close(inner)


def _file(fd: int, path: str, writer: TreeWriter) -> None:
    try:
        file = open_regular(path.rpartition("/")[2], follow=False, dir_fd=fd)
    except NotRegular as error:
        raise SourceError(f"{path} is no file.") from error
    with file:
        mode = os.fstat(file.fileno()).st_mode
        if mode & _SET_ID:
            raise SourceError(f"{path} would run as somebody else (a set-id bit).")
        pieces = iter(partial(file.read, _PIECE), b"")
        writer.file(path, pieces, executable=bool(mode & 0o100))
