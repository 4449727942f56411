"""A zip archive as a source, from anybody: bounded before its list is read, then by each byte."""

from __future__ import annotations

import errno
import stat
import struct
import zipfile
import zlib
from functools import partial
from pathlib import Path
from typing import Final

from gatewright.agent.plugins.sources.limits import Limits, SourceError
from gatewright.agent.plugins.sources.writing import TreeWriter

_END: Final = b"PK\5\6"
_LARGE: Final = b"PK\6\7"  # another last record is elsewhere, whose numbers count instead
_TAIL: Final = 20 + 22 + 65535  # where that is named, the last record with the longest comment
_LIST: Final = 16 * 1024 * 1024
_PIECE: Final = 256 * 1024
_KINDS: Final = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
_ENCRYPTED: Final = 1
_UNIX: Final = 3
_LINK: Final = 4096


def unzipped(archive: Path, writer: TreeWriter, limits: Limits) -> None:
    """All of it; one directory that holds everything is left away, as hosts of code add it."""
    _bounded(archive, limits)
    try:
        with zipfile.ZipFile(archive) as opened:
            entries = opened.infolist()
            top = _top(entries)
            for entry in entries:
                if name := entry.filename.removeprefix(top):
                    _take(opened, entry, name, writer)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError) as error:
        raise SourceError(f"The archive is damaged: {error}.") from error
    except OSError as error:
        if error.errno != errno.EINVAL:  # a place before its beginning
            raise
        raise SourceError("The archive is damaged.") from error
    writer.finish()


def _bounded(archive: Path, limits: Limits) -> None:
    """Refuse a list of entries that alone would fill the memory of whoever reads it."""
    with archive.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - _TAIL))
        tail = file.read(_TAIL)
    at = tail.rfind(_END)
    if at < 0 or len(tail) - at < 22:
        raise SourceError("It is no zip archive.")
    if tail[max(0, at - 20) :].startswith(_LARGE):
        raise SourceError("It is an archive for more than an archive of a plugin may hold (zip64).")
    count, length = struct.unpack_from("<HI", tail, at + 10)
    if count > limits.files or length > _LIST:
        raise SourceError(f"It has more than {limits.files:,} files.")


def _top(entries: list[zipfile.ZipInfo]) -> str:
    """The directory that all lies in, with its slash; empty where there is none, or a part's."""
    tops = {entry.filename.partition("/")[0] for entry in entries}
    alone = next(iter(tops)) if len(tops) == 1 else ""
    if not alone or alone.startswith(".") or alone in ("skills", "commands", "agents", "hooks"):
        return ""
    return f"{alone}/" if all("/" in entry.filename for entry in entries) else ""


def _take(opened: zipfile.ZipFile, entry: zipfile.ZipInfo, name: str, writer: TreeWriter) -> None:
    mode = entry.external_attr >> 16 if entry.create_system == _UNIX else 0
    kind = stat.S_IFMT(mode)
    if entry.flag_bits & _ENCRYPTED:
        raise SourceError("The archive is encrypted.")
    if entry.compress_type not in _KINDS:
        raise SourceError(f"{name} is compressed in a way that is not read here.")
    if mode & (stat.S_ISUID | stat.S_ISGID):
        raise SourceError(f"{name} would run as somebody else (a set-id bit).")
    if entry.is_dir():
        writer.folder(name)
    elif kind == stat.S_IFLNK:
        with opened.open(entry) as file:
            writer.link(name, file.read(_LINK).decode("utf-8", "surrogateescape"))
    elif kind in (0, stat.S_IFREG):
        with opened.open(entry) as file:
            pieces = iter(partial(file.read, _PIECE), b"")
            writer.file(name, pieces, executable=bool(mode & 0o100))
    else:
        raise SourceError(f"{name} is a device, a pipe or a socket.")
