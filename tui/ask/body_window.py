"""The part of a long question that is seen: where it begins, and a word about what is hidden."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import NamedTuple

from gatewright.agent.text.printable import as_run
from gatewright.tui import cells
from gatewright.tui.blocks.diff import changes
from gatewright.tui.line import Line, Span, clip, line

UNREAD = -1  # nobody scrolled yet


class Window(NamedTuple):
    """The visible part of a body, and how many rows of it are hidden before and after."""

    rows: list[Line]
    above: int = 0
    below: int = 0
    cut: frozenset[int] = frozenset()  # options that are not whole: nobody takes what was not read
    must: int = 0  # rows at the beginning that are read before a yes


def window(body: list[Line], limit: int, scroll: int, width: int, read: str = "") -> Window:
    """The part of a long body that is scrolled to, and a word about what is hidden.

    `read` is said there as well, where the row that says it is hidden.
    """
    if len(body) <= limit:
        return Window(body)
    room = max(1, limit - 1)
    above = max(0, min(scroll, len(body) - room))
    shown = body[above : above + room]
    below = len(body) - above - room
    key = f"{read} · " if read and not any(row.plain.endswith(read) for row in shown) else ""
    if limit > 1:
        told = line(Span(key, "accent"), Span(_hidden(above, below), "warning"))
        return Window([*shown, clip(told, width)], above, below)
    note = f" {key}… {below} more" if below else f" {key}… {above} above"
    row = clip(shown[0], max(8, width - cells.width(note)))
    return Window([row._replace(spans=(*row.spans, Span(note, "warning")))], above, below)


def _hidden(above: int, below: int) -> str:
    """What is hidden, and the keys that show it."""
    if above and below:
        return f"… {below} more (PgDn), {above} above (PgUp)"
    if below:
        return f"… {below} more {_rows(below)}, PgDn shows them"
    return f"… {above} {_rows(above)} above, PgUp shows them"


def _rows(count: int) -> str:
    return "row" if count == 1 else "rows"


def first_row(body: list[Line], parts: tuple[str, ...], limit: int) -> int:
    """The row to begin with, so that the first of these parts, or what changes, is seen."""
    if len(body) <= limit:
        return 0
    if not parts:
        return _before(next((n for n, row in enumerate(body) if changes(row)), 0), limit)
    texts = [row.plain[row.gutter :] + row.end for row in body]
    at = "".join(texts).find(as_run(parts[0]))
    if at < 0:
        return 0
    ends = list(accumulate(map(len, texts)))
    return _before(bisect_right(ends, at), limit)


def _before(row: int, limit: int) -> int:
    """Where to begin so that this row is seen, and what stands before it where there is room."""
    return 0 if row < limit - 1 else row - (limit > 2)
