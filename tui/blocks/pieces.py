"""Cuts Markdown into top-level pieces while it streams, so that only the last one is drawn again.

Cutting the whole text at once and cutting it as it arrives give the same pieces.
"""

from __future__ import annotations

import copy
import re
from typing import Literal, NamedTuple, TypeAlias

from gatewright.tui.blocks.highlight import highlight, language_of

Kind: TypeAlias = Literal["markdown", "code"]

CODE_ROWS = 40  # a longer fence freezes in steps of so many lines
BLOCK_ROWS = 120  # a longer list or quote freezes at its next blank line

_FENCE = re.compile(r"^( *)(`{3,}|~{3,})\s*([^`]*)$")
_LIST = re.compile(r"^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:\s|$)")


class Piece(NamedTuple):
    """A part drawn by itself. `joined` pieces of one fence follow each other without a gap."""

    kind: Kind
    text: str
    language: str = ""
    state: str = ""
    joined: bool = False


class Cutter:
    """Feed text, take frozen pieces; `live` is what may still change."""

    def __init__(self) -> None:
        self._lines: list[str] = []  # complete lines of the open piece
        self._rest = ""  # the line that has no newline yet
        self._fence = ""  # the marker of an open top-level fence
        self._indent = 0
        self._language = ""
        self._state = ""
        self._joined = False
        self._inner = ""  # a fence inside a list item
        self._list = False
        self._blank = False

    def feed(self, text: str) -> list[Piece]:
        """Take more text; returns the pieces that are complete now."""
        self._rest += text
        *whole, self._rest = self._rest.split("\n")
        frozen: list[Piece] = []
        for row in whole:
            self._take(row.rstrip("\r"), frozen)
        return frozen

    def live(self) -> list[Piece]:
        """The unfinished end, as it would be drawn if nothing followed."""
        ahead = copy.copy(self)
        ahead._lines = list(self._lines)
        frozen: list[Piece] = []
        row = self._rest.rstrip("\r")
        if row and not self._may_be_fence(row):
            ahead._take(row, frozen)
        return [*frozen, *ahead._open()]

    def _may_be_fence(self, row: str) -> bool:
        """Whether the row may become a fence's marker: it is not shown as text before."""
        text = row.strip()
        if self._fence:
            return bool(text) and not text.strip(self._fence[0])
        return not self._inner and text[:2] in ("`", "``", "~", "~~") and not text.strip("`~")

    def _open(self) -> list[Piece]:
        if self._fence:
            return [self._code(self._lines)] if self._lines else []
        text = "\n".join(self._lines).strip("\n")
        return [Piece("markdown", text)] if text.strip() else []

    def _take(self, row: str, frozen: list[Piece]) -> None:
        if self._fence:
            self._take_code(row, frozen)
        elif self._inner:
            self._lines.append(row)
            if row.strip().startswith(self._inner) and not row.strip().strip(self._inner[0]):
                self._inner = ""
        elif not row.strip():
            self._blank = True
            if not self._list or len(self._lines) > BLOCK_ROWS:
                self._freeze(frozen)
            elif self._lines:
                self._lines.append("")
        else:
            self._take_text(row, frozen)
            self._blank = False

    def _take_text(self, row: str, frozen: list[Piece]) -> None:
        fence = _FENCE.match(row)
        continues = self._list and (row[:2].isspace() or bool(_LIST.match(row)))
        if fence and not (continues and row[0] == " "):
            if len(fence[1]) < 4:
                self._freeze(frozen)
                self._fence, self._indent = fence[2], len(fence[1])
                self._language = language_of(fence[3].split(" ")[0])
                self._state, self._joined = "", False
                return
        elif fence:
            self._inner = fence[2]
        if self._list and self._blank and not continues:
            self._freeze(frozen)
        if not self._lines:
            self._list = bool(_LIST.match(row))
        self._lines.append(row)

    def _take_code(self, row: str, frozen: list[Piece]) -> None:
        if self._closes(row):
            if self._lines or not self._joined:
                frozen.append(self._code(self._lines))
            self._lines, self._fence = [], ""
            return
        self._lines.append(row[self._indent_of(row) :])
        if len(self._lines) >= CODE_ROWS:
            piece = self._code(self._lines)
            frozen.append(piece)
            for line in self._lines:
                _spans, self._state = highlight(line, self._language, self._state)
            self._lines, self._joined = [], True

    def _closes(self, row: str) -> bool:
        text = row.strip()
        return text.startswith(self._fence) and not text.strip(self._fence[0])

    def _indent_of(self, row: str) -> int:
        return min(self._indent, len(row) - len(row.lstrip(" ")))

    def _code(self, rows: list[str]) -> Piece:
        return Piece("code", "\n".join(rows), self._language, self._state, self._joined)

    def _freeze(self, frozen: list[Piece]) -> None:
        text = "\n".join(self._lines).strip("\n")
        if text.strip():
            frozen.append(Piece("markdown", text))
        self._lines, self._list, self._blank = [], False, False


def pieces(text: str) -> list[Piece]:
    """All pieces of a complete text."""
    cutter = Cutter()
    frozen = cutter.feed(text)
    return [*frozen, *cutter.live()]
