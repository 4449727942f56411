"""Whether what is covered in a command is still what was covered when it began.

A cover lies on one file, not on its name: who replaces the file, as editors and git do when they
save, takes the cover away from every command that goes on. From then on it is theirs to write.
"""

from __future__ import annotations

import os
import stat
import struct
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

_HERE, _NOFOLLOW, _BIRTH = -100, 0x100, 0x800
_SIZE, _AT = 256, 80  # of the structure, and of the birth time in it

# The disk, the file on it, and when it last changed: a file with the same number that came into
# being after that is another one.
Mark: TypeAlias = tuple[int, int, int]


def marks(paths: Iterable[str]) -> dict[str, Mark]:
    """Of those that are there and no links: what tells them from others in their places."""
    return {path: mark for path in paths if (mark := _mark(path)) is not None}


def replaced(known: Mapping[str, Mark]) -> Iterator[str]:
    """Those in whose place lies another file now, and not only behind a link on the way there."""
    found = (path for path, mark in known.items() if is_replaced(path, mark))
    return (path for path in found if os.path.realpath(path) == path or os.path.islink(path))


def is_replaced(path: str, mark: Mark) -> bool:
    now = _mark(path)
    if now is None:
        return os.path.lexists(path)
    if now[:2] != mark[:2]:
        return True
    try:
        return now[2] != mark[2] and born(path) > mark[2]
    except OSError:
        return True


def _mark(path: str) -> Mark | None:
    try:
        status = os.lstat(path)
    except OSError:
        return None
    if stat.S_ISLNK(status.st_mode):
        return None
    return status.st_dev, status.st_ino, status.st_ctime_ns


def born(path: str) -> int:
    """When it came into being, in nanoseconds: the birth time that no command can set.

    The change time where the disk keeps no other. Raises OSError.
    """
    import ctypes  # noqa: PLC0415  lazy: 5 ms, only when something appeared

    changed = os.lstat(path).st_ctime_ns
    buffer = ctypes.create_string_buffer(_SIZE)
    try:
        statx = ctypes.CDLL(None).statx
    except AttributeError:
        return changed
    if statx(_HERE, os.fsencode(path), _NOFOLLOW, ctypes.c_uint(_BIRTH), buffer) != 0:
        return changed
    mask: int = struct.unpack_from("=I", buffer)[0]
    seconds, fraction = struct.unpack_from("=qI", buffer, _AT)
    return int(seconds) * 10**9 + int(fraction) if mask & _BIRTH else changed
