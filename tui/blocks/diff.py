"""Changes of a file: numbered, coloured by a quiet background, side by side where there is room."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gatewright.tools.blocks import Diff, Hunk
from gatewright.tui.line import Line, Span, indent, wrap
from gatewright.tui.sanitize import one_line, visible

SIDE_BY_SIDE = 112
_GAP = Line((Span("⋯", "faint"),))


class Row(NamedTuple):
    """One line of a hunk with the number it has on each side; 0 where it has none."""

    kind: str
    text: str
    old: int
    new: int


def rows_of(hunk: Hunk) -> Iterator[Row]:
    old, new = hunk.old_start, hunk.new_start
    for raw in hunk.lines:
        kind, text = raw[:1] or " ", visible(raw[1:]).expandtabs(4)
        if kind == "+":
            yield Row(kind, text, 0, new)
            new += 1
        elif kind == "-":
            yield Row(kind, text, old, 0)
            old += 1
        else:
            yield Row(" ", text, old, new)
            old, new = old + 1, new + 1


def draw(block: Diff, width: int) -> list[Line]:
    """One column: old and new lines below each other."""
    digits = _digits(block)
    lines: list[Line] = []
    for hunk in block.hunks:
        if lines:
            lines.append(_GAP)
        for row in rows_of(hunk):
            lines += _unified(row, digits, width)
    return lines or [Line((Span("no change in the text", "dim"),))]


def summary(block: Diff) -> tuple[Span, ...]:
    """`path +3 -1`, for titles."""
    return (
        Span(one_line(block.path)),
        Span(f"  +{block.added}", "good"),
        Span(f" -{block.removed}", "error"),
    )


def _digits(block: Diff) -> int:
    ends = [max(h.old_start, h.new_start) + len(h.lines) for h in block.hunks]
    return len(str(max(ends, default=1)))


_ROLE = {"+": "added", "-": "removed"}


def _unified(row: Row, digits: int, width: int) -> list[Line]:
    role = _ROLE.get(row.kind, "")
    number = row.new or row.old
    mark = Span(f"{number:>{digits}} {row.kind} ", f"{role}.mark" if role else "faint")
    text = Span(row.text, role or "dim")
    made = wrap((text,), width - digits - 3, hard=True)
    rest = Span(" " * (digits + 3), role or "text")
    return [line._replace(fill=role) for line in indent(made, mark, rest)]


def draw_split(block: Diff, width: int) -> list[Line]:
    """Two columns, old on the left; one where there is no room, or nothing for one of them."""
    kinds = {raw[:1] for hunk in block.hunks for raw in hunk.lines}
    if width < SIDE_BY_SIDE or len(kinds) == 1:
        return draw(block, width)
    digits = _digits(block)
    half = (width - 3) // 2
    lines: list[Line] = []
    for hunk in block.hunks:
        if lines:
            lines.append(_GAP)
        for left, right in _pairs(list(rows_of(hunk))):
            lines += _split_row(left, right, digits, half)
    return lines


def _pairs(rows: list[Row]) -> Iterator[tuple[Row | None, Row | None]]:
    """Old and new rows that stand beside each other."""
    index = 0
    while index < len(rows):
        if rows[index].kind == " ":
            yield rows[index], rows[index]
            index += 1
            continue
        old: list[Row] = []
        new: list[Row] = []
        while index < len(rows) and rows[index].kind != " ":
            (old if rows[index].kind == "-" else new).append(rows[index])
            index += 1
        for number in range(max(len(old), len(new))):
            yield (
                old[number] if number < len(old) else None,
                new[number] if number < len(new) else None,
            )


def _split_row(left: Row | None, right: Row | None, digits: int, half: int) -> list[Line]:
    a = _half(left, digits, half, old=True)
    b = _half(right, digits, half, old=False)
    blank = (Span(" " * half),)
    joined: list[Line] = []
    for index in range(max(len(a), len(b))):
        spans = (
            *(a[index] if index < len(a) else blank),
            Span(" │ ", "faint"),
            *(b[index] if index < len(b) else blank),
        )
        joined.append(Line(spans))
    return joined


def _half(row: Row | None, digits: int, half: int, *, old: bool) -> list[tuple[Span, ...]]:
    if row is None:
        return []
    role = _ROLE.get(row.kind, "")
    number = row.old if old else row.new
    made: list[tuple[Span, ...]] = []
    for index, line in enumerate(
        wrap((Span(row.text, role or "dim"),), half - digits - 1, hard=True)
    ):
        label = f"{number:>{digits}} " if not index else " " * (digits + 1)
        fill = " " * (half - digits - 1 - line.width)
        made.append(
            (
                Span(label, f"{role}.mark" if role else "faint"),
                *line.spans,
                Span(fill, role or "text"),
            )
        )
    return made
