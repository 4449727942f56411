"""A list with columns: arrows move, letters act on a row, `s` sorts, `/` searches, Tab parts it.

It follows what happens for as long as it is seen; the cursor stays on its row wherever that goes.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from gatewright.agent.commands.outcome import Act, Choice, Listing, Outcome
from gatewright.tui import cells
from gatewright.tui.line import BLANK, Line, Span, clip, line
from gatewright.tui.panels.listing import STEPS, TURNS
from gatewright.tui.panels.search import nothing, place, searched
from gatewright.tui.panels.sheet import LOW, Press, Sheet
from gatewright.tui.prompt.match import best
from gatewright.tui.sanitize import one_line

if TYPE_CHECKING:
    from gatewright.tui.command_effects import Reach  # it opens these

EVERY = 1.0  # seconds between two looks at what follows what happens
ALL = "all"
GAP = "  "
NAME = 18  # cells of what names a row, before which figures go
LEAST = 12  # cells of the last two columns, which hold sentences


def open_table(offer: Listing, screen: Reach) -> None:
    def make(sheet: Sheet) -> TableView:
        table = TableView(sheet, offer, screen)

        def follow() -> bool:
            if not sheet.shows(table):
                return False
            sheet.refresh_rows()
            return True

        if offer.follows:
            screen.every(EVERY, follow)
        return table

    screen.show_panel(make)


class TableView:
    """Implements a page of the panel."""

    def __init__(self, sheet: Sheet, offer: Listing, screen: Reach) -> None:
        self._sheet = sheet
        self._offer = offer
        self._screen = screen
        self._filter = ""
        self._typing = False
        self._sort = -1  # as they come
        self._tab = 0
        self._at = 0
        self._chosen = ""
        self._sure = ""  # the capital key that was pressed once
        self._every = offer.rows()

    @property
    def keys(self) -> Sequence[str]:
        if self._typing:
            return ("type to search", "enter goes on", "ctrl+u empties")
        if not self._every:
            return ()
        acts = (f"{act.key} {act.label}" for act in self._offer.acts)
        tabs = ("tab next kind",) if len(self._tabs()) > 1 else ()
        return ("enter opens", *acts, "s sorts", "/ searches", *tabs)

    def press(self, press: Press) -> bool:
        key, character, settled = press
        rows = self._rows()
        self._at = self._place(rows)
        before, self._sure = self._sure, ""
        if self._typing:
            return self._typed(key, character)
        if key in STEPS:
            self._at = max(0, min(self._at + STEPS[key], len(rows) - 1))
            self._chosen = rows[self._at].id if rows else ""
        elif key in TURNS:
            self._tab = (self._tab + TURNS[key]) % len(self._tabs())
        elif key == "enter" and rows and (settled or not rows[self._at].agent):
            self._open(rows[self._at])  # what is only read may be opened by a key typed ahead
        elif key == "slash":
            self._typing = True
        elif key == "ctrl+u" and self._filter:
            self._filter = ""
        elif character == "s" or (character == "t" and not self._does("t")):
            self._sort = (self._sort + 2) % (len(self._offer.columns) + 1) - 1
        elif act := next((act for act in self._offer.acts if act.key in (key, character)), None):
            if rows and settled:
                self._act(act, rows, sure=before == act.key)
        else:
            return False
        return True

    def _typed(self, key: str, character: str) -> bool:
        if key == "enter":
            self._typing = False
        elif key == "backspace":
            self._filter = self._filter[:-1]
        elif key == "ctrl+u":
            self._filter = ""
        elif character and character.isprintable():
            self._filter += character
            self._at, self._chosen = 0, ""  # what fits best
        else:
            return False
        return True

    def paste(self, text: str) -> None:
        if self._typing:
            self._filter += text

    def _does(self, key: str) -> bool:
        return any(act.key == key for act in self._offer.acts)

    def _act(self, act: Act, rows: Sequence[Choice], *, sure: bool) -> None:
        if act.key.isupper() and not sure:
            self._sure = act.key
            self._sheet.tell(f"{act.key} again {act.label}", "warning")
            return
        self._sheet.work(partial(self._did, act.run, rows[self._at].id))

    async def _did(self, run: Callable[[str], Awaitable[Outcome]], row: str) -> None:
        async def acted() -> Outcome:
            outcome = await run(row)
            if self._sheet.shows(self):  # the rows may say something else now
                self._sheet.refresh_rows()
            return outcome

        self._screen.talk.follow("", acted)

    def _open(self, row: Choice) -> None:
        if row.agent:
            self._screen.look_into(row.agent)
        else:
            self._sheet.work(partial(self._read, row.id))

    async def _read(self, row: str) -> None:
        read, follows = partial(self._offer.read, row), self._offer.follows
        back = self._screen.return_focus
        self._screen.read(await read(), back, from_top=not follows, again=read if follows else None)

    # rows

    def _tabs(self) -> Sequence[str]:
        kinds = self._offer.tabs or tuple(dict.fromkeys(row.source for row in self._every))
        return (ALL, *kinds) if len(kinds) > 1 else (ALL,)

    def _rows(self) -> Sequence[Choice]:
        """What is seen of them, sorted."""
        tabs = self._tabs()
        self._tab = min(self._tab, len(tabs) - 1)
        kind = tabs[self._tab]
        rows = [row for row in self._every if kind in (ALL, row.source)]
        if words := self._filter.strip():
            rows = best(words, rows, partial(_said, words.lower()), limit=1000)
        if self._sort >= 0:
            rows = sorted(rows, key=partial(_sorted_by, self._sort))
        return rows

    def _place(self, rows: Sequence[Choice]) -> int:
        """Where the cursor is: on its row, else where one is left."""
        found = next((n for n, row in enumerate(rows) if row.id == self._chosen), None)
        place = min(self._at, max(0, len(rows) - 1)) if found is None else found
        self._chosen = rows[place].id if rows else ""
        return place

    def lines(self, width: int, height: int) -> list[Line]:
        self._every = self._offer.rows()
        rows = self._rows()
        self._at = self._place(rows)
        gap = [] if height < LOW - 2 else [BLANK]
        room = max(1, height - 2 - len(gap))
        first = max(0, min(self._at - room // 2, len(rows) - room))
        shown = rows[first : first + room]
        if not shown:
            return [self._head(rows, 0), *gap, nothing(self._filter)]
        widths = widths_of(self._offer.columns, shown, width - 2)
        right = figures_of(self._offer.columns, shown)
        made = [
            row_line(row, widths, right, here=first + n == self._at) for n, row in enumerate(shown)
        ]
        titles = titles_of(self._offer.columns, widths, right, sorted_by=self._sort)
        return [self._head(rows, len(shown)), *gap, titles, *(clip(row, width) for row in made)]

    def _head(self, rows: Sequence[Choice], shown: int) -> Line:
        spans = [Span(one_line(self._offer.title), "text:b")]
        tabs = self._tabs()
        for number, tab in enumerate(tabs if len(tabs) > 1 else ()):
            here = number == self._tab
            spans += [Span("   "), Span(one_line(tab), "accent:b" if here else "dim")]
        spans += place(self._at, len(rows), shown) or [Span(f"   {len(rows)}", "faint")]
        if self._typing or self._filter:
            spans += searched(self._filter, typing=self._typing)
        return line(*spans)


def figures_of(columns: Sequence[str], rows: Sequence[Choice]) -> frozenset[int]:
    """The columns of numbers, which end below each other; the last two hold words."""
    found: set[int] = set()
    for number in range(len(columns) - 2):
        cells_of = [cell for row in rows if (cell := _cell(row, number))]
        if cells_of and all(cell.lstrip("$+-")[:1].isdigit() for cell in cells_of):
            found.add(number)
    return frozenset(found)


def _aligned(text: str, width: int, *, right: bool) -> str:
    shown = cells.fit(text, width)
    gap = " " * max(0, width - cells.width(shown))
    return gap + shown if right else shown + gap


def titles_of(
    columns: Sequence[str], widths: Sequence[int], right: frozenset[int], *, sorted_by: int = -1
) -> Line:
    """The head of the columns."""
    spans: list[Span | str] = ["  "]
    for number, (title, width) in enumerate(zip(columns, widths, strict=True)):
        mark = "\u25be" if number == sorted_by else ""
        role = "accent" if mark else "faint"
        if width:
            spans += [Span(_aligned(title + mark, width, right=number in right), role), GAP]
    return line(*spans)


def _said(words: str, row: Choice) -> Sequence[str]:
    """Its name may fit loosely; any letters stand somewhere in a sentence, so words have to."""
    return (row.label, *(cell for cell in row.cells if words in cell.lower()))


def _sorted_by(column: int, row: Choice) -> tuple[float, str]:
    """The largest number first; words as a dictionary has them."""
    number = row.numbers[column] if column < len(row.numbers) else 0.0
    return -number, row.cells[column].casefold() if column < len(row.cells) else ""


def widths_of(columns: Sequence[str], rows: Sequence[Choice], width: int) -> list[int]:
    """The last two columns share what is left; in little room figures go first, then all others."""
    wanted: list[int] = []
    for number, title in enumerate(columns):
        widest = max(cells.width(_cell(row, number)) for row in rows)
        wanted.append(max(cells.width(title) + 1, widest) if widest else 0)
    fixed, last = wanted[:-2], wanted[-2:]

    def left() -> int:
        """Cells for the last two, beside the columns that are still there."""
        return max(0, width - sum(each + len(GAP) for each in fixed if each) - 2 * len(GAP))

    for number in range(len(fixed) - 1, 0, -1):
        if left() < min(NAME, last[0]) + sum(min(LEAST, each) for each in last[1:]):
            fixed[number] = 0
    if len(last) < 2:
        return [*fixed, left()]
    name, rest = last
    if fixed and left() < min(name, 2 * LEAST) + min(LEAST, rest):
        fixed[0] = 0
    room = left()
    first = min(name, max(room - rest, room // 2, room - LEAST))
    return [*fixed, first, max(0, room - first)]


def _cell(row: Choice, number: int) -> str:
    return one_line(row.cells[number]) if number < len(row.cells) else ""


def row_line(row: Choice, widths: Sequence[int], right: frozenset[int], *, here: bool) -> Line:
    prefix = "selected." if here else ""
    spans = [Span("\u25b8 " if here else "  ", f"{prefix}accent")]
    for number, width in enumerate(widths):
        if width:
            text = _aligned(_cell(row, number), width, right=number in right)
            named = number == len(widths) - 2
            spans.append(Span(text, ("selected" if here else "text") if named else f"{prefix}dim"))
            spans.append(Span(GAP, "selected" if here else "text"))
    return Line(tuple(spans), fill="selected" if here else "")
