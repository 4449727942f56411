"""Blocks to read inside a panel, a screenful at a time."""

from __future__ import annotations

from collections.abc import Sequence

from gatewright.tools.blocks import Block, plain
from gatewright.tui.line import Line, Span, line, wrap
from gatewright.tui.panels.listing import STEPS
from gatewright.tui.panels.sheet import Press
from gatewright.tui.sanitize import visible


class Pages:
    def __init__(self, title: str, blocks: Sequence[Block]) -> None:
        self._title = title
        self._texts = [visible(row) for block in blocks for row in plain(block).splitlines()]
        self._at = 0

    @property
    def keys(self) -> Sequence[str]:
        return ("up/down scroll",)

    def press(self, press: Press) -> bool:
        step = STEPS.get(press.key)
        if step is None:
            return False
        self._at = max(0, self._at + step)
        return True

    def paste(self, text: str) -> None:
        """Nothing is typed here."""

    def lines(self, width: int, height: int) -> list[Line]:
        rows = [
            row
            for text in self._texts
            for row in wrap((Span(text, "text" if text.startswith(">") else "dim"),), width)
        ]
        room = max(1, height - 1)
        self._at = min(self._at, max(0, len(rows) - room))
        below = len(rows) - room - self._at
        more = Span(f"   {below} more below" if below > 0 else "", "faint")
        return [line(Span(self._title, "text:b"), more), *rows[self._at : self._at + room]]
