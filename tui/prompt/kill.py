"""The kill ring: what readline's cutting keys took, newest first, and what they take."""

from __future__ import annotations

from typing import TypeAlias

from textual.widgets import TextArea

MAX = 20
CUTTING = frozenset({"ctrl+k", "ctrl+u", "ctrl+w", "alt+d"})
Place: TypeAlias = tuple[int, int]


class KillRing:
    """Consecutive kills join into one entry; yanking again turns the ring."""

    def __init__(self) -> None:
        self._entries: list[str] = []
        self._turn = 0
        self._joining = False

    def kill(self, text: str, *, before: bool = False) -> None:
        """Keep cut text; `before` when it stood left of the cursor."""
        if not text:
            return
        if self._joining and self._entries:
            old = self._entries[0]
            self._entries[0] = text + old if before else old + text
        else:
            self._entries.insert(0, text)
            del self._entries[MAX:]
        self._joining, self._turn = True, 0

    def other_key(self) -> None:
        """Something else was pressed: the next kill starts a new entry."""
        self._joining = False

    def yank(self) -> str:
        self._turn = 0
        return self._entries[0] if self._entries else ""

    def turn(self) -> str:
        """The entry after the one that was yanked last."""
        if not self._entries:
            return ""
        self._turn = (self._turn + 1) % len(self._entries)
        return self._entries[self._turn]


class Cuts:
    """The keys that cut, and bring back what was cut, in one text."""

    def __init__(self, area: TextArea) -> None:
        self.ring = KillRing()
        self._area = area
        self._yanked: tuple[Place, Place] | None = None

    def _cut(self, start: Place, end: Place, *, before: bool) -> None:
        text = self._area.get_text_range(start, end)
        if text:
            self.ring.kill(text, before=before)
            self._area.delete(start, end)

    def to_end(self) -> None:
        area = self._area
        row, column = area.cursor_location
        length = len(area.document.get_line(row))
        end = (row, length)
        if column == length and row + 1 < area.document.line_count:
            end = (row + 1, 0)
        self._cut((row, column), end, before=False)

    def to_start(self) -> None:
        """To the start of the line; from there over its end to the line above, as further back."""
        row, column = self._area.cursor_location
        start = (row, 0)
        if not column and row:
            start = (row - 1, len(self._area.document.get_line(row - 1)))
        self._cut(start, (row, column), before=True)

    def word(self) -> None:
        here = self._area.cursor_location
        self._cut(self._area.get_cursor_word_left_location(), here, before=True)

    def word_right(self) -> None:
        here = self._area.cursor_location
        self._cut(here, self._area.get_cursor_word_right_location(), before=False)

    def yank(self) -> None:
        text = self.ring.yank()
        if text:
            start = self._area.cursor_location
            self._yanked = (start, self._area.insert(text).end_location)

    def turn(self) -> None:
        if self._yanked is None or self._area.cursor_location != self._yanked[1]:
            return
        start, end = self._yanked
        self._yanked = (start, self._area.replace(self.ring.turn(), start, end).end_location)
        self._area.move_cursor(self._yanked[1])
