"""A list with tabs: type to filter, arrows move, Enter chooses, further keys act on a row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from gatewright.tui import cells
from gatewright.tui.line import BLANK, Line, Span, line, wrap
from gatewright.tui.panels.search import nothing, place, searched
from gatewright.tui.panels.sheet import LOW, Press
from gatewright.tui.prompt.match import best
from gatewright.tui.sanitize import one_line

PAGE = 8
TIGHT = 6  # rows in which the list itself goes first
STEPS = {"up": -1, "down": 1, "ctrl+p": -1, "ctrl+n": 1, "pageup": -PAGE, "pagedown": PAGE}
TURNS = {"tab": 1, "right": 1, "left": -1, "shift+tab": -1}


class Item(NamedTuple):
    """`of` is what the row stands for; `mark` warns, `about` is told below the list.

    `source` stands at the right edge, in the colour of `role`.
    """

    of: Any
    label: str
    detail: str = ""
    mark: str = ""
    source: str = ""
    about: tuple[tuple[str, str], ...] = ()  # texts with their roles
    counts: bool = True
    role: str = "dim"


class Act(NamedTuple):
    """A further key. `changes`: it waits until the panel has been seen."""

    keys: tuple[str, ...]
    label: str
    run: Callable[[Item | None], None]
    changes: bool = True


class Tabs(NamedTuple):
    """Lists side by side; `first` is the one that is seen at the beginning."""

    names: Sequence[str]
    first: str = ""


ONE = Tabs(("",))


class Listing:
    """`load` gives the rows of a tab anew whenever something may have changed."""

    def __init__(
        self,
        title: str,
        load: Callable[[str], Sequence[Item]],
        enter: Callable[[Item], None],
        *,
        tabs: Tabs = ONE,
        acts: Callable[[], Sequence[Act]] = tuple[Act, ...],
        enters: Callable[[], str] = str,
    ) -> None:
        self.title = title
        self._load = load
        self._enter = enter
        self._tabs = tabs.names
        self._acts = acts
        self._enters = enters
        self._filter = ""
        self._at = 0
        self._tab = tabs.names.index(tabs.first) if tabs.first in tabs.names else 0
        self._all: list[Sequence[Item]] = []
        self.found: list[list[Item]] = []
        self.reload()

    @property
    def tab(self) -> str:
        return self._tabs[self._tab]

    @property
    def keys(self) -> Sequence[str]:
        tabs = ("tab next list",) if len(self._tabs) > 1 else ()
        acts = (f"{' or '.join(act.keys)} {act.label}" for act in self._acts())
        rows = ("type to search", f"enter {self._enters() or 'chooses'}") if any(self._all) else ()
        return (*rows, *tabs, *acts)

    def reload(self) -> None:
        self._all = [self._load(tab) for tab in self._tabs]
        self._search()

    def press(self, press: Press) -> bool:
        key, character, settled = press
        act = next((act for act in self._acts() if key in act.keys), None)
        if key in STEPS:
            self._at = max(0, min(self._at + STEPS[key], len(self._rows()) - 1))
        elif key in TURNS and len(self._tabs) > 1:
            self._tab = (self._tab + TURNS[key]) % len(self._tabs)
            self._at = 0
        elif key == "enter":
            if settled and (item := self.chosen()) is not None:
                self._enter(item)
        elif act is not None:
            if settled or not act.changes:
                act.run(self.chosen())
        elif key == "backspace":
            self._type(self._filter[:-1])
        elif key == "ctrl+u":
            self._type("")
        elif character and character.isprintable():
            self._type(self._filter + character)
        else:
            return False
        return True

    def paste(self, text: str) -> None:
        self._type(self._filter + text)

    def chosen(self) -> Item | None:
        rows = self._rows()
        return rows[self._at] if rows else None

    def _rows(self) -> list[Item]:
        return self.found[self._tab]

    def _type(self, text: str) -> None:
        self._filter, self._at = text, 0
        self._search()
        if not self._rows():  # what is looked for may be in another list
            self._tab = next((n for n, rows in enumerate(self.found) if rows), self._tab)

    def _search(self) -> None:
        words = self._filter.strip()
        self.found = [
            best(words, rows, lambda i: (i.label, i.detail, i.mark, i.source), limit=1000)
            for rows in self._all
        ]
        self._at = max(0, min(self._at, len(self._rows()) - 1))

    def lines(self, width: int, height: int) -> list[Line]:
        gap = [] if height < LOW - 2 else [BLANK]
        about = self._about(width)[: 1 if height < TIGHT else 2 if height < LOW - 2 else 4]
        room = max(1, height - 1 - len(gap) - (len(about) + len(gap) if about else 0))
        rows = self._window(width, room)
        seen = place(self._at, len(self._rows()), len(rows))
        return [self._head(width, seen), *gap, *rows, *(gap if about else ()), *about]

    def _window(self, width: int, room: int) -> list[Line]:
        found = self._rows()
        if not found:
            return [nothing(self._filter)]
        first = max(0, min(self._at - room // 2, len(found) - room))
        shown = found[first : first + room]
        widest = max(cells.width(one_line(item.label)) for item in shown)
        label = min(widest, max(12, width * 3 // 5))
        return [
            item_row(item, label, width, selected=first + n == self._at)
            for n, item in enumerate(shown)
        ]

    def _about(self, width: int) -> list[Line]:
        item = self.chosen()
        spans = [Span(one_line(text), role) for text, role in item.about if text] if item else []
        return [row for span in spans for row in wrap((span,), width)]

    def _head(self, width: int, seen: Sequence[Span]) -> Line:
        """The tabs with what they hold; in less room without, then only the one that is seen."""
        title = Span(one_line(self.title), "text:b")
        more = [*seen, *(searched(self._filter) if self._filter else ())]
        if len(self._tabs) < 2:
            return line(title, *more)
        place = f" {self._tab + 1}/{len(self._tabs)}"
        alone = [Span("  "), Span(self.tab, "accent:b"), Span(place, "faint")]
        room = width - cells.width(title.text) - sum(cells.width(span.text) for span in more)
        ways = (self._tab_row(counted=True), self._tab_row(counted=False))
        fits = (way for way in ways if sum(cells.width(span.text) for span in way) <= room)
        return line(title, *next(fits, alone), *more)

    def _tab_row(self, *, counted: bool) -> list[Span]:
        row: list[Span] = []
        for number, tab in enumerate(self._tabs):
            here = number == self._tab
            row += [Span("   " if counted else "  "), Span(tab, "accent:b" if here else "dim")]
            if counted:
                count = sum(item.counts for item in self.found[number])
                row.append(Span(f" {count}", "accent" if here else "faint"))
        return row


def item_row(item: Item, label_width: int, width: int, *, selected: bool) -> Line:
    prefix = "selected." if selected else ""
    label = cells.pad(cells.fit_middle(one_line(item.label), label_width), label_width)
    source, mark = one_line(item.source), one_line(item.mark)
    room = width - 4 - label_width
    mark = cells.fit(mark, max(0, room))
    room -= cells.width(mark) + (2 if mark else 0)
    source = source if cells.width(source) <= room else ""
    apart = cells.width(source) + 2 if source else 0
    detail = cells.fit(one_line(item.detail), max(0, room - apart))
    gap = " " * max(0, room - cells.width(detail) - cells.width(source))
    spans = (
        Span("\u25b8 " if selected else "  ", f"{prefix}accent"),
        Span(label + "  ", "selected" if selected else "text"),
        Span(f"{mark}  " if mark else "", f"{prefix}warning"),
        Span(detail + gap, f"{prefix}dim"),
        Span(source, f"{prefix}{item.role}"),
    )
    return Line(spans, fill="selected" if selected else "")
