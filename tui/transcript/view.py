"""The transcript widget: a window onto the records, drawn line by line.

It renders visible strips only and repaints only rows that changed. Whether it follows the end or
stays at a place is explicit; new content never moves what a person is reading.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from textual import events
from textual.geometry import Offset, Region
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from gatewright.tui.line import BLANK, Line, Span, restyle
from gatewright.tui.style.look import Look
from gatewright.tui.transcript.items import FOLDED, Item
from gatewright.tui.transcript.records import Records
from gatewright.tui.transcript.select import Point, copied, found, text_range
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
FURTHER = 50  # records above the visible ones that may be opened
MAX_COPIED = 50_000  # rows
SIDE = 1  # blank columns left and right


class Spot(NamedTuple):
    """A cell of the content."""

    place: Place
    column: int


class Transcript(Widget, can_focus=False):
    """Following while `place` is None, else detached at that place."""

    ALLOW_SELECT = False  # the framework selects cells; we select text, see `select.py`

    unseen: reactive[int] = reactive(0, repaint=False)

    def __init__(self, look: Look, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._look = look
        self.records = Records()
        self.place: Place | None = None
        self._strips: list[Strip] = []
        self._parts: list[Part] = []
        self._lines: list[Line] = []
        self._made: dict[int, tuple[Line, Strip]] = {}
        self._opened = 0  # the record that was opened last
        self._lead = 0  # rows above the first one
        self.greeting: Callable[[int], list[Line]] | None = None
        self.back = "end to follow"  # what the way back to the end is called
        self.find = ""  # text to mark, lower case
        self._anchor: Spot | None = None
        self._head: Spot | None = None
        self._pressed: Offset | None = None

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

    def rewind(self, to: str) -> None:
        self.records.rewind(to)
        self.place = None
        self.unseen = 0

    def sync(self) -> None:
        """Bring the screen up to date; call once after a batch of changes."""
        size = self.size
        if not size.width or not size.height:
            self._parts, self._lines = [], []  # hidden: none of its records is seen
            return
        self.records.resize(max(10, size.width - 2 * SIDE))
        if self.place is None:
            place = bottom(self.records, size.height)
        else:
            place = self.place = clamp(self.records, self.place)
        self._parts = parts(self.records, place, size.height - self._pill_rows(size.height))
        lines = [
            row
            for part in self._parts
            for row in self.records.rows(part.item, part.chunk)[part.first : part.last]
        ]
        greeted = self._greeted(size.height - len(lines))
        self._lead = len(greeted)
        self._show([*greeted, *lines], size.width, size.height)

    def _greeted(self, room: int) -> list[Line]:
        """What stands above while nothing was said, only noted."""
        if self.greeting is None or not self.records.only_notes():
            return []
        rows = self.greeting(self.records.width)
        if self.records.items():
            return [*rows, BLANK] if self.place is None and len(rows) < room else []
        if len(rows) > room:
            rows = [row for row in rows if row.plain.strip()]  # what says nothing gives way first
        return rows[:room]

    def _show(self, lines: list[Line], width: int, height: int) -> None:
        before = self._strips
        made: dict[int, tuple[Line, Strip]] = {}
        strips: list[Strip] = []
        for y, row in enumerate(self._marked(lines)):
            if row is not lines[y]:
                strips.append(self._look.strip(row, width, SIDE))
                continue
            known = self._made.get(id(row))
            if known is None or known[0] is not row or known[1].cell_length != width:
                known = (row, self._look.strip(row, width, SIDE))
            made[id(row)] = known
            strips.append(known[1])
        blank = self._look.blank(width)
        strips += [blank] * (height - len(strips))
        if self._pill_rows(height):
            strips[-1] = self._pill(width)
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

    def _marked(self, lines: list[Line]) -> list[Line]:
        """The visible rows with what is selected or searched for standing out."""
        if self.find:
            lines = [found(row, self.find) for row in lines]
        if self._anchor is None or self._head is None:
            return lines
        first, last = sorted((self._anchor, self._head))
        rows = list(lines)
        for y, row in enumerate(lines):
            place = self._place_at(y)
            if place is None or not first.place <= place <= last.place:
                continue
            start = first.column if place == first.place else 0
            end = last.column + 1 if place == last.place else row.width
            rows[y] = restyle(row, *text_range(row, start, end), "selected:r")
        return rows

    def _place_at(self, y: int) -> Place | None:
        """The row of the content at a row of the screen."""
        y -= self._lead
        if y < 0:
            return None
        for part in self._parts:
            size = part.last - part.first
            if y < size:
                return Place(part.item, part.chunk, part.first + y)
            y -= size
        return None

    def _pill_rows(self, height: int) -> int:
        """While detached the last row is the pill's alone: it covers nothing."""
        return 1 if self.place is not None and height > 1 else 0

    def _pill(self, width: int) -> Strip:
        """How to get back to the end, and what is missed there."""
        text = f" {self.unseen} new below  end " if self.unseen else f" {self.back} "
        size = min(len(text), width)
        role = "current" if self.unseen else "selected.dim"
        pill = self._look.strip(Line((Span(text, role),)), size)
        rest = self._look.blank(max(0, width - size - SIDE))
        return Strip.join([rest, pill, self._look.blank(SIDE)])

    def render_line(self, y: int) -> Strip:
        if y < len(self._strips):
            return self._strips[y]
        return self._look.blank(self.size.width)

    def on_resize(self) -> None:
        if self.place is not None and at_end(self.records, self.place, self.size.height):
            self._go(None)  # what hid the end is gone
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

    def reveal(self, id: int) -> None:
        """Show a record from its first row when it is higher than the screen."""
        item = self.records.find(id)
        if item is not None and self.place is None:
            place = Place(item, 0, 0)
            if not at_end(self.records, place, self.size.height):
                self._go(move(self.records, place, self.records.gap(item)))

    def go_to(self, place: Place) -> None:
        """Show a place at the upper edge, or follow when it is within the last screen."""
        self._go(None if at_end(self.records, place, self.size.height) else place)

    def _go(self, place: Place | None) -> None:
        self.place = place
        if place is None:
            self.unseen = 0
        self.sync()

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.scroll_rows(-WHEEL)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.scroll_rows(WHEEL)

    # selecting with the mouse

    @dataclass
    class Selected(Message):
        """The person let go of the mouse after selecting this text."""

        text: str

    def on_mouse_down(self, event: events.MouseDown) -> None:
        if event.button != 1:
            return
        self._pressed = event.offset
        self._anchor = self._head = None
        self.capture_mouse()
        self.sync()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self._pressed is None:
            return
        if event.y < 0 or event.y >= self.size.height:
            self.scroll_rows(-1 if event.y < 0 else 1)
        here = self._spot(event.offset)
        if self._anchor is None:
            self._anchor = self._spot(self._pressed)
        if here is not None and here != self._head:
            self._head = here
            self.sync()

    def on_mouse_up(self, event: events.MouseUp) -> None:
        pressed, self._pressed = self._pressed, None
        if pressed is None:
            return
        self.release_mouse()
        if self._anchor is not None and self._head is not None:
            text = self.selected_text()
            if text:
                self.post_message(self.Selected(text))
        else:
            self._clicked(event.y)

    def _clicked(self, y: int) -> None:
        """A click on the head of a call or a thought opens or closes it."""
        place = self._place_at(y)
        if place is None or place.chunk:
            return
        if isinstance(self.records.at(place.item), FOLDED):
            self._toggle(place.item)

    def _spot(self, offset: Offset) -> Spot | None:
        y = max(0, min(offset.y, len(self._lines) - 1))
        place = self._place_at(y)
        return Spot(place, max(0, offset.x - SIDE)) if place is not None else None

    @property
    def has_selection(self) -> bool:
        return self._head is not None

    def clear_selection(self) -> None:
        if self._head is not None:
            self._anchor = self._head = None
            self.sync()

    def selected_text(self) -> str:
        """The source text of the selection; empty without one."""
        if self._anchor is None or self._head is None:
            return ""
        first, last = sorted((self._anchor, self._head))
        rows: list[Line] = []
        end = 0
        for part in parts(self.records, first.place, MAX_COPIED):
            made = self.records.rows(part.item, part.chunk)
            if (part.item, part.chunk) == (last.place.item, last.place.chunk):
                end = len(rows) + last.place.row - part.first
                rows += made[part.first : part.last]
                break
            rows += made[part.first : part.last]
        return copied(rows[: end + 1], Point(0, first.column), Point(end, last.column))

    def open_more(self) -> bool:
        """Open or close the record in view; a second press opens all, the next closes them."""
        records = self.records
        visible = [part.item for part in self._parts]
        again = next((n for n in visible if records.at(n).id == self._opened), None)
        if records.open_all or (again is not None and records.expanded(again)):
            more = not records.open_all and any(map(self._opens, self._in_view(visible)))
            records.open_everything(on=more)
            self._opened = 0
            self._show_from(again)
            return True
        for item in self._in_view(visible):
            if self._has_more(item):
                self._toggle(item)
                self._opened = records.at(item).id
                return True
        return False

    def _opens(self, item: int) -> bool:
        return not self.records.expanded(item) and self._has_more(item)

    def _has_more(self, item: int) -> bool:
        kept = isinstance(self.records.at(item), FOLDED)
        return kept and self.records.has_more(item)

    def _in_view(self, visible: list[int]) -> Iterator[int]:
        """The last record seen, or the first where somebody reads; then those above."""
        first = visible[0] if visible else 0
        here = dict.fromkeys(visible if self.place is not None else reversed(visible))
        return chain(here, range(first - 1, max(-1, first - FURTHER), -1))

    def _toggle(self, item: int) -> None:
        self.records.toggle(item)
        self._show_from(item if self.records.expanded(item) else None)

    def _show_from(self, item: int | None) -> None:
        """What opens shows its first row, wherever its end is."""
        if self.place is not None:
            self.go_to(self.place)  # what was folded away may have hidden the end
        elif item is not None:
            self.go_to(Place(item, 0, 0))
        else:
            self.sync()
