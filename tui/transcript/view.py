"""The transcript widget: a window onto the records, drawn line by line.

It renders visible strips only and repaints only rows that changed. Whether it follows the end or
stays at a place is explicit; new content never moves what a person is reading.
"""

from __future__ import annotations

from textual import events
from textual.geometry import Region
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from gatewright.tui.line import Line, Span
from gatewright.tui.look import Look
from gatewright.tui.transcript.items import Item, Said, Thought, ToolRun
from gatewright.tui.transcript.records import Records
from gatewright.tui.transcript.window import (
    START,
    Part,
    Place,
    at_end,
    bottom,
    clamp,
    move,
    parts,
)

WHEEL = 3
SIDE = 1  # blank columns left and right


class Transcript(Widget, can_focus=False):
    """Following while `place` is None, else detached at that place."""

    ALLOW_SELECT = False  # the framework selects cells; we select text, see `select.py`

    unseen: reactive[int] = reactive(0, repaint=False)

    class Moved(Message):
        """Following began or ended, or unseen records changed."""

        def __init__(self, unseen: int, *, following: bool) -> None:
            super().__init__()
            self.unseen = unseen
            self.following = following

    def __init__(self, look: Look, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._look = look
        self.records = Records()
        self.place: Place | None = None
        self._strips: list[Strip] = []
        self._parts: list[Part] = []
        self._lines: list[Line] = []
        self._made: dict[int, tuple[Line, Strip]] = {}
        self._opened = 0

    @property
    def following(self) -> bool:
        return self.place is None

    def repaint(self) -> None:
        """The theme changed."""
        self._made.clear()
        self._strips = []
        self.sync()
        self.refresh()

    def append(self, item: Item) -> None:
        self.records.append(item)
        if self.place is not None:
            self.unseen += 1

    def patch(self, item: Item) -> None:
        self.records.patch(item)

    def discard(self, id: int) -> None:
        self.records.remove(id)

    def empty(self) -> None:
        self.records.clear()
        self.place = None
        self.unseen = 0

    def sync(self) -> None:
        """Bring the screen up to date; call once after a batch of changes."""
        size = self.size
        if not size.width or not size.height:
            return
        self.records.resize(max(10, size.width - 2 * SIDE))
        if self.place is None:
            place = bottom(self.records, size.height)
        else:
            place = self.place = clamp(self.records, self.place)
        self._parts = parts(self.records, place, size.height)
        lines = [
            row
            for part in self._parts
            for row in self.records.rows(part.item, part.chunk)[part.first : part.last]
        ]
        self._show(lines, size.width, size.height)

    def _show(self, lines: list[Line], width: int, height: int) -> None:
        before = self._strips
        made: dict[int, tuple[Line, Strip]] = {}
        strips: list[Strip] = []
        for row in lines:
            known = self._made.get(id(row))
            if known is None or known[0] is not row or known[1].cell_length != width:
                known = (row, self._look.strip(row, width, SIDE))
            made[id(row)] = known
            strips.append(known[1])
        blank = self._look.blank(width)
        strips += [blank] * (height - len(strips))
        if self.place is not None and height > 1:
            strips[-1] = self._with_pill(strips[-1], width)
        self._made, self._strips, self._lines = made, strips, lines
        if len(before) != len(strips):
            self.refresh()
            return
        start: int | None = None
        for y in range(height + 1):
            changed = y < height and before[y] is not strips[y] and before[y] != strips[y]
            if changed and start is None:
                start = y
            elif not changed and start is not None:
                self.refresh(Region(0, start, width, y - start))
                start = None

    def _with_pill(self, strip: Strip, width: int) -> Strip:
        """The last row while detached: how to get back, and what is missed."""
        text = f" {self.unseen} new below  end " if self.unseen else " end to follow "
        size = min(len(text), width)
        role = "current" if self.unseen else "selected.dim"
        pill = self._look.strip(Line((Span(text, role),)), size)
        rest = strip.crop(0, width - size - SIDE)
        return Strip.join([rest, pill, self._look.blank(SIDE)])

    def render_line(self, y: int) -> Strip:
        if y < len(self._strips):
            return self._strips[y]
        return self._look.blank(self.size.width)

    def on_resize(self) -> None:
        self.sync()

    # moving

    def scroll_rows(self, delta: int) -> None:
        """Move by rows; reaching the end follows it again."""
        height = self.size.height
        here = self.place if self.place is not None else bottom(self.records, height)
        there = move(self.records, here, delta)
        if there == here and delta < 0:
            return
        self._go(None if delta > 0 and at_end(self.records, there, height) else there)

    def page(self, direction: int) -> None:
        self.scroll_rows(direction * max(1, self.size.height - 2))

    def home(self) -> None:
        self._go(START)

    def follow(self) -> None:
        """Show the end and stay there."""
        self._go(None)

    def go_to(self, place: Place) -> None:
        """Show a place at the upper edge, or follow when it is within the last screen."""
        self._go(None if at_end(self.records, place, self.size.height) else place)

    def _go(self, place: Place | None) -> None:
        changed = (place is None) != (self.place is None)
        self.place = place
        if place is None and self.unseen:
            self.unseen = 0
            changed = True
        self.sync()
        if changed:
            self.post_message(self.Moved(self.unseen, following=place is None))

    def watch_unseen(self, unseen: int) -> None:
        self.post_message(self.Moved(unseen, following=self.place is None))

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.scroll_rows(-WHEEL)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.scroll_rows(WHEEL)

    def toggle_last(self) -> bool:
        """Open or close what was opened last, else the last visible record with more to show."""
        visible = [part.item for part in reversed(self._parts)]
        again = [n for n in visible if self.records.at(n).id == self._opened]
        openable = [n for n in visible if isinstance(self.records.at(n), ToolRun | Thought | Said)]
        for item in again + openable:
            self._toggle(item)
            return True
        return False

    def _toggle(self, item: int) -> None:
        self.records.toggle(item)
        opened = self.records.expanded(item)
        self._opened = self.records.at(item).id if opened else 0
        place = Place(item, 0, 0)
        if opened and self.place is None and not at_end(self.records, place, self.size.height):
            self._go(place)  # what opens shows its first row, wherever its end is
        else:
            self.sync()
