"""Which rows of a long question are seen, and how far the keys of reading move on."""

from __future__ import annotations

from textual import events

from gatewright.tui.ask.answer_keys import PAGES, SCROLLS, WHEEL
from gatewright.tui.ask.body_window import UNREAD, Window
from gatewright.tui.rows import Rows
from gatewright.tui.style.look import Look


class Reading:
    def __init__(self) -> None:
        self.scroll = UNREAD
        self.cut: frozenset[int] = frozenset()  # options that cannot be read as they stand
        self._above = self._below = 0
        self._must: int = 0
        self._seen: int = 0
        self._page = 1

    @property
    def whole(self) -> bool:
        """Whether nothing of it is hidden."""
        return not (self._above or self._below)

    @property
    def unread(self) -> bool:
        """Whether rows are left that are read before a yes."""
        return self._seen < self._must

    def turn(self, key: str) -> None:
        self.move(SCROLLS[key] if key in SCROLLS else PAGES[key] * self._page)

    def move(self, delta: int) -> None:
        self.scroll = max(0, self._above + delta)

    def drawn(self, shown: Window) -> bool:
        """Whether what is to be read before a yes has become read, or unread."""
        before = self.unread
        self._above, self._below, self.cut = shown.above, shown.below, shown.cut
        if self.scroll != UNREAD:
            self.scroll = shown.above
        if shown.must != self._must:  # laid out anew
            self._must, self._seen = shown.must, 0
        if shown.above <= self._seen:
            end = shown.above + len(shown.rows) - bool(shown.above or shown.below)
            self._seen = max(self._seen, end)
        self._page = max(1, len(shown.rows) - 2)
        return before != self.unread


class ScrolledRows(Rows):
    """Rows that the mouse scrolls, too."""

    def __init__(self, look: Look, *, id: str | None = None) -> None:
        super().__init__(look, id=id)
        self._reading = Reading()

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self._move(-WHEEL)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self._move(WHEEL)

    def _move(self, delta: int) -> None:
        self._reading.move(delta)
        self.refresh_rows()
