"""Changes of a file: numbered, coloured as code on a quiet ground, the words that changed on a
stronger one; side by side where there is room.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gatewright.tools.blocks import Diff, Hunk
from gatewright.tui.blocks.highlight import highlight, language_of
from gatewright.tui.blocks.words import Part, changed, over
from gatewright.tui.line import Line, Span, indent, wrap
from gatewright.tui.sanitize import one_line, visible

SIDE_BY_SIDE = 112
COMPARED = 300  # pairs of lines of one block that are compared word by word
_GAP = Line((Span("⋯", "faint"),))
_GROUND = {"+": "added", "-": "removed"}


class Row(NamedTuple):
    """One line of a hunk with the number it has on each side; 0 where it has none."""

    kind: str
    text: str
    old: int
    new: int
    spans: tuple[Span, ...] = ()

    @property
    def ground(self) -> str:
        return _GROUND.get(self.kind, "")


def rows_of(block: Diff) -> Iterator[list[Row]]:
    """Of each hunk its lines, coloured."""
    language, left = language_of(block.path), COMPARED
    for hunk in block.hunks:
        rows = list(_coloured(_numbered(hunk), language))
        yield list(_compared(rows, left))
        left -= len(rows)


def _numbered(hunk: Hunk) -> Iterator[Row]:
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


def _coloured(rows: Iterator[Row], language: str) -> Iterator[Row]:
    """Each side is code by itself: what opens in one does not close in the other."""
    states = {"-": "", "+": ""}
    for row in rows:
        spans, after = highlight(row.text, language, states["-" if row.kind == "-" else "+"])
        for side in ("-", "+") if row.kind == " " else (row.kind,):
            states[side] = after
        yield row._replace(spans=spans)


def _compared(rows: Sequence[Row], left: int) -> Iterator[Row]:
    """With the words that changed, where as many lines came as went."""
    for old, new in _runs(rows):
        pairs = zip(old, new, strict=True) if len(old) == len(new) <= left else ()
        found = [changed(gone.text, came.text) for gone, came in pairs]
        for side, rows_of_it in enumerate((old, new)):
            for number, row in enumerate(rows_of_it):
                marks: Sequence[Part] = found[number][side] if found else ()
                yield row._replace(spans=over(row.spans, row.ground, marks)) if row.ground else row


def _runs(rows: Sequence[Row]) -> Iterator[tuple[list[Row], list[Row]]]:
    """What went and what came in its place; a line that stayed is a run of its own."""
    old: list[Row] = []
    new: list[Row] = []
    for row in rows:
        if row.kind == "-" and not new:
            old.append(row)
        elif row.kind == "+":
            new.append(row)
        else:
            yield old, new
            old, new = ([row], []) if row.kind == "-" else ([], [])
            if row.kind == " ":
                yield [], [row]
    yield old, new


def draw(block: Diff, width: int) -> list[Line]:
    """One column: old and new lines below each other."""
    digits = _digits(block)
    lines: list[Line] = []
    for rows in rows_of(block):
        if lines:
            lines.append(_GAP)
        for row in rows:
            lines += _unified(row, digits, width)
    return lines or [Line((Span("no change in the text", "dim"),))]


def first_lines(block: Diff, limit: int) -> tuple[Diff, int]:
    """What holds the first lines of it, and how many there are: the rest need not be drawn."""
    total = sum(len(hunk.lines) for hunk in block.hunks)
    kept: list[Hunk] = []
    for hunk in block.hunks:
        if limit <= 0:
            break
        kept.append(Hunk(hunk.old_start, hunk.new_start, hunk.lines[:limit]))
        limit -= len(hunk.lines)
    return Diff(block.path, tuple(kept), block.added, block.removed), total


def summary(block: Diff) -> tuple[Span, ...]:
    """`path +3 -1`, for titles."""
    return (
        Span(one_line(block.path)),
        Span(f"  +{block.added}", "good"),
        Span(f" -{block.removed}", "error"),
    )


def changes(row: Line) -> bool:
    """Whether a drawn row is of a line that came or went."""
    return any(span.role.endswith((".mark", "added", "removed")) for span in row.spans)


def _digits(block: Diff) -> int:
    ends = [max(h.old_start, h.new_start) + len(h.lines) for h in block.hunks]
    return len(str(max(ends, default=1)))


def _unified(row: Row, digits: int, width: int) -> list[Line]:
    ground = row.ground
    number = row.new or row.old
    mark = Span(f"{number:>{digits}} {row.kind} ", f"{ground}.mark" if ground else "faint")
    made = wrap(row.spans, width - digits - 3, hard=True)
    rest = Span(" " * (digits + 3), ground or "text")
    return [line._replace(fill=ground) for line in indent(made, mark, rest)]


def draw_split(block: Diff, width: int) -> list[Line]:
    """Two columns, old on the left; one where there is no room, or nothing for one of them."""
    kinds = {raw[:1] for hunk in block.hunks for raw in hunk.lines}
    if width < SIDE_BY_SIDE or len(kinds) == 1:
        return draw(block, width)
    digits = _digits(block)
    half = (width - 3) // 2
    lines: list[Line] = []
    for rows in rows_of(block):
        if lines:
            lines.append(_GAP)
        for left, right in _pairs(rows):
            lines += _split_row(left, right, digits, half)
    return lines


def _pairs(rows: Sequence[Row]) -> Iterator[tuple[Row | None, Row | None]]:
    """Old and new rows that stand beside each other."""
    for old, new in _runs(rows):
        if not old and len(new) == 1 and new[0].kind == " ":
            yield new[0], new[0]
            continue
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
    ground = row.ground
    number = row.old if old else row.new
    made: list[tuple[Span, ...]] = []
    for index, line in enumerate(wrap(row.spans, half - digits - 1, hard=True)):
        label = f"{number:>{digits}} " if not index else " " * (digits + 1)
        fill = " " * (half - digits - 1 - line.width)
        made.append(
            (
                Span(label, f"{ground}.mark" if ground else "faint"),
                *line.spans,
                Span(fill, ground or "text"),
            )
        )
    return made
