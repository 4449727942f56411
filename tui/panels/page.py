"""A page to look at: it leaves nothing in the conversation, and typing goes on in the prompt."""

from __future__ import annotations

from collections.abc import Sequence

from gatewright.tools.blocks import Block
from gatewright.tui.blocks.registry import draw
from gatewright.tui.line import BLANK, Line, Span, line
from gatewright.tui.panels.sheet import LOW, Press
from gatewright.tui.sanitize import one_line

STEPS = {"up": -1, "down": 1, "shift+up": -1, "shift+down": 1}
PAGES = {"pageup": -1, "pagedown": 1}
NARROW = 44  # cells below which keys would take a second row
FAR = 1_000_000  # rows


class PageView:
    """Implements a page of the panel."""

    def __init__(self, title: str, blocks: Sequence[Block]) -> None:
        self._title = one_line(title)
        self._blocks = blocks
        self._first = 0
        self._rows: list[Line] = []
        self._width = 0
        self._shown = 1

    @property
    def keys(self) -> Sequence[str]:
        if len(self._rows) <= self._shown:
            return ()
        return ("up down scroll" if self._width < NARROW else "up down, pgup pgdn scroll",)

    def press(self, press: Press) -> bool:
        """Rows are scrolled; whatever else is typed is none of its business."""
        key = press.key
        if key in STEPS:
            self._scroll(self._first + STEPS[key])
        elif key in PAGES:
            self._scroll(self._first + PAGES[key] * max(1, self._shown - 1))
        elif key in ("home", "end"):
            self._scroll(0 if key == "home" else FAR)
        else:
            return False
        return True

    def change(self, title: str, blocks: Sequence[Block]) -> None:
        """Other things to look at, from the same row on."""
        self._title, self._blocks, self._width = one_line(title), blocks, 0

    def _scroll(self, first: int) -> None:
        self._first = max(0, min(first, len(self._rows) - self._shown))

    def paste(self, text: str) -> None:
        """Nothing here takes a text."""

    def lines(self, width: int, height: int) -> list[Line]:
        if width != self._width:
            self._width, self._rows = width, self._drawn(width)
        gap = [] if height < LOW - 2 else [BLANK]
        self._shown = max(1, height - 1 - len(gap))
        self._scroll(self._first)
        last = self._first + self._shown
        return [self._head(last), *gap, *self._rows[self._first : last]]

    def _drawn(self, width: int) -> list[Line]:
        rows: list[Line] = []
        for block in self._blocks:
            made = draw(block, width)
            rows += [BLANK, *made] if rows and made else made
        return rows

    def _head(self, last: int) -> Line:
        told = hidden(self._first, len(self._rows) - last)
        return line(Span(self._title, "text:b"), Span(f"   {told}", "faint"))


def hidden(above: int, below: int) -> str:
    """How many rows are not seen, for the head of what scrolls."""
    told = [f"{above} above"] if above > 0 else []
    return ", ".join(told + ([f"{below} below"] if below > 0 else []))
