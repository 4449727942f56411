"""Turning visible rows back into the text they were made of: margins dropped, wraps joined."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gatewright.tui import cells
from gatewright.tui.line import Line, restyle


class Point(NamedTuple):
    """A cell of the selection: row number and column."""

    row: int
    column: int


def copied(rows: Sequence[Line], start: Point, end: Point) -> str:
    """The source text between two points, the end cell included."""
    start, end = sorted((start, end))
    parts: list[str] = []
    for number in range(start.row, min(end.row, len(rows) - 1) + 1):
        row = rows[number]
        first = start.column if number == start.row else 0
        last = end.column + 1 if number == end.row else None
        text = _cut(row, first, last)
        joint = row.end if number < end.row else ""
        parts.append(text.rstrip() + joint if joint == "\n" else text + joint)
    return "".join(parts).strip("\n")


def text_range(row: Line, first: int, last: int) -> tuple[int, int]:
    """The characters between two cells, without the gutter."""
    plain = row.plain
    return max(row.gutter, _index(plain, first)), _index(plain, last)


def _cut(row: Line, first: int, last: int | None) -> str:
    """The characters of a row between two cells, without its gutter."""
    plain = row.plain
    start = max(row.gutter, _index(plain, first))
    stop = len(plain) if last is None else _index(plain, last)
    return plain[start:stop]


def _index(text: str, column: int) -> int:
    """The index of the character at a cell."""
    if column <= 0:
        return 0
    if cells.width(text) <= column:
        return len(text)
    return cells.cut(text, column)


def found(row: Line, wanted: str) -> Line:
    """The row with what was searched for, in lower case, standing out."""
    text = row.plain.lower()
    at = text.find(wanted)
    while at >= 0:
        row = restyle(row, at, at + len(wanted), "found")
        at = text.find(wanted, at + len(wanted))
    return row
