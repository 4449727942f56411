"""A list to choose from, inline above the prompt: type to filter, arrows move, Enter picks.

Whoever opens it says what moving and picking mean; Escape undoes a preview.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from textual import events

from gatewright.tui import cells
from gatewright.tui.line import BLANK, Line, Span, indent, line, wrap
from gatewright.tui.panels.search import nothing, place, searched
from gatewright.tui.panels.sheet import foot
from gatewright.tui.prompt.match import best
from gatewright.tui.prompt.menu import Choice, choice_row
from gatewright.tui.rows import Rows
from gatewright.tui.sanitize import one_line
from gatewright.tui.style.look import Look

SHOWN = 10
OPEN = "list-open"  # for style sheets: a low screen has no row for what is pinned
LOW = 16  # below so many rows nothing is left blank
NARROW = 60  # below so many cells a detail that is cut stands below the list, of the chosen row
STEPS = {"up": -1, "down": 1, "ctrl+p": -1, "ctrl+n": 1, "pageup": -SHOWN, "pagedown": SHOWN}
TURNS = {"tab": 1, "right": 1, "left": -1, "shift+tab": -1, "ctrl+r": 1}


class Key(NamedTuple):
    """A further key and what it does with the choice under the cursor."""

    key: str
    label: str
    run: Callable[[Choice], None]


@dataclass(frozen=True)
class Picking:
    """What is chosen from, and what choosing does. `tabs` part the choices by their source."""

    title: str
    choices: Sequence[Choice]
    pick: Callable[[Choice], None]
    preview: Callable[[Choice], None] | None = None
    cancel: Callable[[], None] | None = None
    at: int = 0
    tabs: Sequence[str] = ()
    keys: Sequence[Key] = field(default_factory=tuple[Key, ...])
    about: Sequence[str] = ()  # below the title
    head: Choice | None = None  # the titles of the columns


class Picker(Rows, can_focus=True):
    """Shows one `Picking` at a time; invisible without one."""

    BACK = "surface"

    def __init__(self, look: Look, *, id: str | None = None) -> None:
        super().__init__(look, id=id)
        self._picking: Picking | None = None
        self._filter = ""
        self._at = 0
        self._tab = 0
        self._found: list[Choice] = []
        self.room = 2 * SHOWN  # rows that it may take

    @property
    def open(self) -> bool:
        return self._picking is not None

    def show(self, picking: Picking) -> None:
        if self._picking is not None and self._picking.cancel:
            self._picking.cancel()
        self._picking, self._filter, self._tab = picking, "", 0
        filled = (n for n in range(len(picking.tabs)) if self._of_tab(picking, n))
        self._tab = next(filled, 0)
        self._search()
        self._at = min(picking.at, max(0, len(self._found) - 1))
        self.screen.set_class(True, OPEN)
        self.refresh_rows()
        self.focus()

    def renew(self, old: Picking, new: Picking) -> bool:
        """Put one in the place of another while that is shown; filter and cursor stay."""
        if self._picking is not old:
            return False
        if new is not old:
            chosen = self._chosen()
            self._picking = new
            self._search()
            same = (n for n, c in enumerate(self._found) if chosen and c.insert == chosen.insert)
            self._at = next(same, min(self._at, max(0, len(self._found) - 1)))
            self.refresh_rows()
        return True

    def close(self) -> None:
        if self._picking is not None:
            self._picking = None
            self.screen.set_class(False, OPEN)
            self.refresh_rows()
            self.post_message(self.Closed())

    def on_key(self, event: events.Key) -> None:
        if self._picking is not None and self._handled(event.key, event.character or ""):
            event.stop()
            event.prevent_default()

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        if self._picking is not None:
            self._type(event.text.partition("\n")[0])

    def _handled(self, key: str, character: str) -> bool:
        picking = self._picking
        assert picking is not None
        extra = next((entry for entry in picking.keys if entry.key == key), None)
        if key in STEPS:
            self._step(STEPS[key])
        elif key in ("escape", "ctrl+c"):
            self._cancel(picking)
        elif key == "enter":
            self._pick(picking)
        elif key in TURNS and picking.tabs:
            self._tab = (self._tab + TURNS[key]) % len(picking.tabs)
            self._type("")
        elif extra is not None:
            extra.run(self._chosen() or Choice(self._tab_name(), ""))
        elif key == "backspace":
            self._filter = self._filter[:-1]
            self._type("")
        elif key == "ctrl+u":
            self._filter = ""
            self._type("")
        elif character and character.isprintable():
            self._type(character)
        else:
            return False
        return True

    def _cancel(self, picking: Picking) -> None:
        if picking.cancel:
            picking.cancel()
        self.close()

    def _pick(self, picking: Picking) -> None:
        if choice := self._chosen():
            self.close()
            picking.pick(choice)

    def _type(self, text: str) -> None:
        self._filter += text
        self._at = 0
        self._search()
        self._step(0)

    def _of_tab(self, picking: Picking, tab: int) -> Sequence[Choice]:
        if not picking.tabs:
            return picking.choices
        name = picking.tabs[tab]
        return [choice for choice in picking.choices if choice.insert.startswith(f"{name} ")]

    def _search(self) -> None:
        picking = self._picking
        assert picking is not None
        choices = self._of_tab(picking, self._tab)
        self._found = best(self._filter, choices, lambda c: (c.label, c.detail), limit=1000)

    def _tab_name(self) -> str:
        tabs = self._picking.tabs if self._picking is not None else ()
        return tabs[self._tab] if tabs else ""

    def _chosen(self) -> Choice | None:
        return self._found[self._at] if self._found else None

    def _step(self, delta: int) -> None:
        self._at = max(0, min(self._at + delta, len(self._found) - 1))
        choice = self._chosen()
        if choice is not None and self._picking is not None and self._picking.preview:
            self._picking.preview(choice)
        self.refresh_rows()

    def rows(self, width: int) -> list[Line]:
        picking = self._picking
        if picking is None:
            return []
        inner = width - 2
        height = self.screen.size.height
        gap = [] if height < LOW else [BLANK]
        hints = (f"{entry.key} {entry.label}" for entry in picking.keys)
        tabs = ("tab next list",) if picking.tabs else ()
        chooses = ("type to search", "enter chooses") if picking.choices else ()
        keys = foot((*chooses, *tabs, *hints, "esc closes"), inner)
        if height < LOW:  # the list goes before what can be guessed
            keys = keys[-1:]
        about = [row for text in picking.about for row in wrap((Span(text, "dim"),), inner)]
        room = max(1, height - 6 - len(keys)) if height < LOW else max(3, height - 14)
        fixed = 1 + 2 * len(gap) + len(keys) + (len(about) + len(gap) if about else 0)
        room = min(SHOWN, room - len(about), self.room - fixed - (picking.head is not None))
        room = max(min(2, len(self._found)), room)
        shown, listed = self._list(inner, room)
        seen = place(self._at, len(self._found), shown)
        head = [self._head(picking, seen), *gap, *about, *(gap if about else ())]
        rows = [*head, *listed, *gap, *keys]
        bar = Span("▎ ", "accent")
        return indent(rows, bar, bar)

    def _head(self, picking: Picking, seen: Sequence[Span]) -> Line:
        spans = [Span(one_line(picking.title), "text:b")]
        for number, tab in enumerate(picking.tabs):
            here = number == self._tab
            size = len(self._of_tab(picking, number))
            spans += [Span("   "), Span(tab, "accent:b" if here else "dim")]
            spans.append(Span(f" {size}", "accent" if here else "faint"))
        spans += seen
        if self._filter:
            spans += searched(self._filter)
        return Line(tuple(spans))

    def _list(self, width: int, room: int) -> tuple[int, list[Line]]:
        """How many of the choices are seen, and the rows."""
        if not self._found:
            return 0, [nothing(self._filter)]
        below = self._below(width)
        told = below if room > 3 else []
        room -= len(told)
        first = max(0, min(self._at - room // 2, len(self._found) - room))
        shown = self._found[first : first + room]
        widest = max(cells.width(one_line(choice.label)) for choice in shown)
        label = min(widest, width - 4 if below else width * 2 // 3)
        if below:
            shown = [choice._replace(detail="") for choice in shown]
        rows = [
            choice_row(choice, label, width, selected=first + n == self._at)
            for n, choice in enumerate(shown)
        ]
        head = self._picking.head if self._picking is not None else None
        if head is not None and not below:
            titles = choice_row(head, label, width, selected=False)
            rows.insert(0, line(Span(titles.plain, "faint")))
        return len(shown), [*rows, *told]

    def _below(self, width: int) -> list[Line]:
        """What is said of the chosen row, where rows have no room for it; as high for each."""
        if width >= NARROW:
            return []
        widest = max(cells.width(one_line(choice.label)) for choice in self._found)
        room = width - 4 - min(widest, width * 2 // 3)
        details = [one_line(choice.detail) for choice in self._found]
        if all(cells.width(detail) <= room for detail in details):
            return []
        told = [indent(wrap((Span(each, "dim"),), width - 2), "  ") for each in details]
        high = min(2, max(map(len, told)))
        return [*told[self._at], *(BLANK for _ in range(high))][:high]
