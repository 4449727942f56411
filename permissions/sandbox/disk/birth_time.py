"""When a path came into being: the birth time that no command can set, where the disk keeps one."""

from __future__ import annotations

import os
import struct

_HERE, _NOFOLLOW, _BIRTH = -100, 0x100, 0x800
_SIZE, _AT = 256, 80  # of the structure, and of the birth time in it


def born(path: str) -> int:
    """Nanoseconds; the change time where birth is not known. Raises OSError."""
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
