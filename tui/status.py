"""The last line of the screen: mode always, then model and place; what it costs on the right."""

from __future__ import annotations

from gatewright.tui import cells
from gatewright.tui.line import Line, Span
from gatewright.tui.look import Look
from gatewright.tui.rows import Rows
from gatewright.tui.sanitize import one_line
from gatewright.tui.state import View
from gatewright.tui.transcript.draw import count, money

GAP = "   "
FULL = 80  # per cent of the window from which the number warns


def left_parts(view: View, branch: str) -> list[Span]:
    mode = view.mode or "starting"
    parts = [Span(mode, f"mode.{mode}" if view.mode else "faint")]
    if view.model:
        parts.append(Span(one_line(view.model), "dim"))
    if branch:
        parts.append(Span(one_line(branch), "faint"))
    return parts


def right_parts(view: View) -> list[Span]:
    parts: list[Span] = []
    if view.tasks:
        parts.append(Span(f"{len(view.tasks)} in background", "dim"))
    tokens = view.usage.context
    if tokens:
        parts.append(Span(f"{count(tokens)} tokens", "faint"))
    if view.cost:
        parts.append(Span(money(view.cost), "dim"))
    if view.window and view.context:
        share = min(100, round(100 * view.context / view.window))
        parts.append(Span(f"{share}% context", "warning" if share >= FULL else "dim"))
    if not view.confined:
        parts.append(Span("no sandbox", "warning"))
    return parts


def status_row(view: View, width: int, *, branch: str = "", hint: str = "") -> Line:
    """Left and right parts with the room between them; the right gives way first."""
    left = _joined([*left_parts(view, branch), *([Span(hint, "faint")] if hint else [])])
    right = right_parts(view)
    while right and _size(left) + _size(_joined(right)) + len(GAP) > width:
        right = right[1:]
    while len(left) > 1 and _size(left) > width:
        left = left[:-2]
    tail = _joined(right)
    room = Span(" " * max(0, width - _size(left) - _size(tail)))
    return Line((*left, room, *tail))


def _joined(parts: list[Span]) -> list[Span]:
    joined: list[Span] = []
    for part in parts:
        joined += [Span(GAP), part] if joined else [part]
    return joined


def _size(spans: list[Span]) -> int:
    return sum(cells.width(span.text) for span in spans)


class Status(Rows):
    """Shows the view it was given last."""

    def __init__(self, look: Look, *, id: str | None = None) -> None:
        super().__init__(look, id=id)
        self.view = View()
        self.branch = ""
        self.hint = ""
        self.editing = ""  # vim's mode, when it is not inserting

    def show(self, view: View) -> None:
        self.view = view
        self.refresh_rows()

    def tell(self, hint: str) -> None:
        """A short hint beside the mode; empty takes it away."""
        self.hint = hint
        self.refresh_rows()

    def rows(self, width: int) -> list[Line]:
        hint = "  ".join(filter(None, (self.editing, self.hint)))
        return [status_row(self.view, width, branch=self.branch, hint=hint)]
