"""A gzipped tar archive as packages of npm are, read by hand: no header of it sizes our memory.

The reader of the standard library takes a header of any length into memory before it is asked;
this one knows files, directories, links and long names, and refuses everything else.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from typing import BinaryIO, Final

from gatewright.agent.plugins.sources.limits import Limits, SourceError
from gatewright.agent.plugins.sources.writing import TreeWriter

_BLOCK: Final = 512
_PIECE: Final = 256 * 1024
_HEADER: Final = 64 * 1024  # bytes of names and other facts of one entry
_SET_ID: Final = 0o6000


class _Inflated:
    """The archive's own bytes, as many as an archive within the limits can have."""

    def __init__(self, file: BinaryIO, limits: Limits) -> None:
        self._file = file
        self._inflate = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
        self._held = b""
        self._left = limits.bytes + limits.files * 4 * _BLOCK + _PIECE
        self._limits = limits

    def read(self, count: int) -> bytes:
        """So many; fewer only at the end."""
        while len(self._held) < count and (piece := self._more()):
            self._held += piece
        taken, self._held = self._held[:count], self._held[count:]
        return taken

    def _more(self) -> bytes:
        while not self._inflate.eof:
            data = self._inflate.unconsumed_tail or self._file.read(_PIECE)
            piece = self._inflate.decompress(data, _PIECE)
            self._left -= len(piece)
            if self._left < 0:
                raise SourceError(f"It is larger than {self._limits.amount}.")
            if piece:
                return piece
            if not data:
                raise SourceError("The archive is damaged: it ends too early.")
        return b""


def untarred(file: BinaryIO, writer: TreeWriter, limits: Limits) -> None:
    """All of it, without the directory that a package lies in."""
    source = _Inflated(file, limits)
    try:
        for name, kind, size, mode, target in _entries(source):
            inner = name.partition("/")[2]
            if mode & _SET_ID and kind == "file":
                raise SourceError(f"{name} would run as somebody else (a set-id bit).")
            if kind == "folder":
                if inner.strip("/"):
                    writer.folder(inner)
            elif kind == "link":
                writer.link(inner, target)
            else:
                writer.file(inner, _data(source, size), executable=bool(mode & 0o100))
    except (zlib.error, UnicodeDecodeError, ValueError) as error:
        raise SourceError(f"The archive is damaged: {error}.") from error
    writer.finish()


def _entries(source: _Inflated) -> Iterator[tuple[str, str, int, int, str]]:
    """Name, kind, size, mode and target of each; who takes a file reads its data at once."""
    said: dict[str, str] = {}
    while (header := source.read(_BLOCK)).strip(b"\0"):
        size = _number(header[124:136])
        _check(header)
        match chr(header[156]):
            case "x":
                said |= _facts(_held(source, size))
            case "g":
                _held(source, size)  # of all that follows, and nothing we need
            case "L":
                said["path"] = _text(_held(source, size))
            case "K":
                said["linkpath"] = _text(_held(source, size))
            case kind:
                name = said.get("path") or _name(header)
                size = _whole(said["size"], 10) if "size" in said else size
                target = said.get("linkpath") or _text(header[157:257])
                said = {}
                yield _entry(name, kind, size, _number(header[100:108]), target)


def _entry(
    name: str, kind: str, size: int, mode: int, target: str
) -> tuple[str, str, int, int, str]:
    match kind:
        case "5":
            return name, "folder", 0, mode, ""
        case "2":
            return name, "link", 0, mode, target
        case "0" | "\0" if not name.endswith("/"):
            return name, "file", size, mode, ""
        case "0" | "\0":
            return name, "folder", 0, mode, ""
        case "1":
            raise SourceError(f"{name} is a hard link.")
        case _:
            raise SourceError(f"{name} is a device, a pipe or something unknown.")


def _data(source: _Inflated, size: int) -> Iterator[bytes]:
    left = size
    while left:
        piece = source.read(min(left, _PIECE))
        if not piece:
            raise SourceError("The archive is damaged: it ends too early.")
        left -= len(piece)
        yield piece
    source.read(-size % _BLOCK)


def _held(source: _Inflated, size: int) -> bytes:
    if size > _HEADER:
        raise SourceError("The archive is damaged: one of its headers is endless.")
    return b"".join(_data(source, size))


def _facts(data: bytes) -> Mapping[str, str]:
    """Records of "length key=value", of which only what is asked for counts."""
    found: dict[str, str] = {}
    while data:
        length, _, _ = data.partition(b" ")
        count = _whole(length.decode("ascii"), 10)
        record = data[len(length) + 1 : count]
        if count <= len(length) + 1 or not record.endswith(b"\n"):
            raise ValueError("a header cannot be read")
        key, _, value = record[:-1].partition(b"=")
        if key in (b"path", b"linkpath", b"size"):
            found[key.decode()] = value.decode("utf-8", "surrogateescape")
        data = data[count:]
    return found


def _name(header: bytes) -> str:
    prefix = _text(header[345:500]) if header[257:262] == b"ustar" else ""
    name = _text(header[:100])
    return f"{prefix}/{name}" if prefix else name


def _text(data: bytes) -> str:
    return data.partition(b"\0")[0].decode("utf-8", "surrogateescape")


def _number(field: bytes) -> int:
    return _whole(field.strip(b" \0").decode("ascii") or "0", 8)


def _whole(text: str, base: int) -> int:
    if not text.isdigit():
        raise ValueError("a number cannot be read")
    return int(text, base)


def _check(header: bytes) -> None:
    if len(header) < _BLOCK:
        raise SourceError("The archive is damaged: it ends too early.")
    plain = header[:148] + b" " * 8 + header[156:]
    if _number(header[148:156]) != sum(plain):
        raise SourceError("The archive is damaged: a checksum is wrong.")
