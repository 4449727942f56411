"""One line above the prompt that says what runs and for how long; blank when nothing does.

Its row is always there, so nothing jumps, and the moving cell is the only one repainted per frame.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from textual.timer import Timer

from gatewright.tui import cells
from gatewright.tui.line import BLANK, Line, Span, clip, line
from gatewright.tui.look import Look
from gatewright.tui.rows import Rows
from gatewright.tui.sanitize import one_line

FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
RATE = 8


class Spinner(Rows):
    """Runs its timer only while something is going on."""

    def __init__(
        self, look: Look, *, clock: Callable[[], float] = time.time, id: str | None = None
    ) -> None:
        super().__init__(look, id=id)
        self._clock = clock
        self._since = 0.0
        self._doing = ""
        self._waiting = False
        self._timer: Timer | None = None
        self.still = False  # reduced motion

    def show(self, since: float, doing: str, *, waiting: bool) -> None:
        """`since` 0 means idle; `waiting` means for the person."""
        self._since, self._doing, self._waiting = since, doing, waiting
        moving = bool(since) and not waiting
        if moving and self._timer is None:
            self._timer = self.set_interval(1.0 if self.still else 1 / RATE, self.refresh_rows)
        elif not moving and self._timer is not None:
            self._timer.stop()
            self._timer = None
        self.refresh_rows()

    def rows(self, width: int) -> list[Line]:
        if self._waiting:
            return []
        if not self._since:
            return [BLANK]
        passed = max(0.0, self._clock() - self._since)
        mark = "●" if self.still else FRAMES[int(passed * RATE) % len(FRAMES)]
        seconds = int(passed)
        doing = one_line(self._doing) or "Working"
        tail = f"  {seconds} s" if seconds else ""
        room = max(8, width - cells.width(tail) - 22)
        row = line(
            Span(f"{mark} ", "accent"),
            Span(cells.fit(doing, room), "dim"),
            Span(tail, "faint"),
            Span("  esc to stop", "faint"),
        )
        return [clip(row, width)]
