"""A window of lines of a text file, streamed: memory does not depend on the file or its lines."""

from __future__ import annotations

import codecs
import time
from collections.abc import Iterator
from typing import BinaryIO

import msgspec

from gatewright.tools.protocol import ToolFailure

LINE_LIMIT = 2000
_CHUNK = 1024 * 1024
_SECONDS = 30.0


class Window(msgspec.Struct, frozen=True):
    """Lines from `first` on (1-based); `total` is known only when the end was reached."""

    lines: tuple[str, ...]
    first: int
    total: int | None
    cut_lines: int = 0


class _Lines:
    """Splits decoded pieces into lines, keeping only what the window shows of each."""

    def __init__(self, first: int, count: int, chars: int) -> None:
        self.first, self.count, self.chars = first, count, chars
        self.kept: list[str] = []
        self.cut = 0
        self.number = 1  # of the line being read
        self.full = False
        self._part = ""
        self._length = 0
        self._seen_any = False

    def feed(self, text: str) -> None:
        ends = text.count("\n")
        if self.number + ends < self.first:  # all of it lies before the window
            self.number += ends
            self._seen_any = not text.endswith("\n") if text else self._seen_any
            return
        pieces = text.split("\n")
        for piece in pieces[:-1]:
            self._add(piece)
            self.end_line()
            if self.full:
                return
        self._add(pieces[-1])

    def _add(self, piece: str) -> None:
        if not piece:
            return
        self._seen_any = True
        if self.number >= self.first:
            self._length += len(piece)
            room = LINE_LIMIT - len(self._part)
            if room > 0:
                self._part += piece[:room]

    def end_line(self) -> None:
        if self.number >= self.first:
            if len(self.kept) >= self.count or self.chars < 0:
                self.full = True
                return
            self.kept.append(self._line())
            self.chars -= len(self.kept[-1]) + 8
            if self.chars < 0 and len(self.kept) > 1:
                self.kept.pop()
                self.full = True
                return
        self.number += 1
        self._part, self._length, self._seen_any = "", 0, False

    def _line(self) -> str:
        if self._length <= LINE_LIMIT:
            return self._part
        self.cut += 1
        return f"{self._part} [... {self._length - LINE_LIMIT:,} more characters]"

    def finish(self) -> int:
        """The number of lines in all, after the end of the file."""
        if self._seen_any:
            self.end_line()
        return self.number - 1


def window(file: BinaryIO, encoding: str, first: int, count: int, chars: int) -> Window:
    """`count` lines from line `first`, fewer if they hold more than `chars` characters."""
    lines = _Lines(first, count, chars)
    for text in _decoded(file, encoding):
        lines.feed(text)
        if lines.full:
            return Window(tuple(lines.kept), first, None, lines.cut)
    total = lines.finish()
    return Window(tuple(lines.kept), first, None if lines.full else total, lines.cut)


def _decoded(file: BinaryIO, encoding: str) -> Iterator[str]:
    """Text in pieces with every line ending turned into a line feed."""
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    deadline = time.monotonic() + _SECONDS
    held = ""
    while chunk := file.read(_CHUNK):
        text = held + decoder.decode(chunk)
        held = "\r" if text.endswith("\r") else ""
        yield _unified(text[: len(text) - len(held)])
        if time.monotonic() > deadline:
            raise ToolFailure(
                "The file is too large to reach that line. Use Bash (sed -n) instead."
            )
    yield _unified(held + decoder.decode(b"", final=True))


def _unified(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
