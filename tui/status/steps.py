"""The steps the model set itself, pinned above the prompt while some are open.

Folded, and in little room, they are one row. The list keeps its rows until the turn is over.
"""

from __future__ import annotations

from collections.abc import Sequence

from gatewright.tools.blocks import TodoItem
from gatewright.tui import cells
from gatewright.tui.blocks.registry import TODO
from gatewright.tui.line import Line, Span, indent, line
from gatewright.tui.rows import Rows
from gatewright.tui.sanitize import one_line
from gatewright.tui.state import View
from gatewright.tui.style.look import Look

LEAST, MOST = 3, 8  # rows
ROOMY = 16  # rows of a screen below which there is one
KEY = "ctrl+x"


class Steps(Rows):
    """Shows the list of the view it was given last."""

    def __init__(self, look: Look, *, id: str | None = None) -> None:
        super().__init__(look, id=id)
        self._items: tuple[TodoItem, ...] = ()
        self._folded = False

    def show(self, view: View) -> None:
        opened = any(item.state != "completed" for item in view.todo)
        items = view.todo if opened or (view.busy and self._items) else ()
        if items != self._items:
            self._items = items
            self.refresh_rows()

    def fold(self) -> bool:
        """Fold or unfold; False where there is nothing to."""
        self._folded = not self._folded
        self.refresh_rows()
        return bool(self._items)

    def rows(self, width: int) -> list[Line]:
        height = self.screen.size.height
        if self._folded or height < ROOMY:
            return folded(self._items, width)
        room = max(LEAST, min(MOST, height // 6))
        return indent(steps(self._items, width - 2, room), "  ")  # below what the spinner says


def folded(items: Sequence[TodoItem], width: int) -> list[Line]:
    """`◐ Adding a test  1 of 5 done`"""
    if not items:
        return []
    done = sum(item.state == "completed" for item in items)
    tail = f"  {done} of {len(items)} done"
    here = items[current(items)]
    return [_row(here, width - len(tail), Span(tail, "faint"))]


def steps(items: Sequence[TodoItem], width: int, room: int) -> list[Line]:
    """All of them, or those around the current one; what is above and below in one row each."""
    if len(items) <= room:
        return [_row(item, width) for item in items]
    here = current(items)
    first = max(0, min(here - (room > LEAST), len(items) - room + 1))
    first = 0 if first == 1 and here < room - 1 else first
    last = first + room - (first > 0)
    last = last if last >= len(items) else last - 1
    rows = [line(Span("● ", "good"), Span(_above(items[:first]), "faint"))] if first else []
    rows += [_row(item, width) for item in items[first:last]]
    if last < len(items):
        rows.append(line(Span(f"  {len(items) - last} more", "faint")))
    return rows


def _above(items: Sequence[TodoItem]) -> str:
    done = sum(item.state == "completed" for item in items)
    return f"{done} done" if done == len(items) else f"{done} of {len(items)} done"


def current(items: Sequence[TodoItem]) -> int:
    """The one in progress, else the next one."""
    for state in ("in_progress", "pending"):
        for number, item in enumerate(items):
            if item.state == state:
                return number
    return len(items) - 1


def _row(item: TodoItem, width: int, tail: Span | str = "") -> Line:
    mark, mark_role, role = TODO[item.state]
    text = cells.fit(one_line(item.text), max(1, width - cells.width(mark)))
    return line(Span(mark, mark_role), Span(text, role), tail)
