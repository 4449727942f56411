"""Rows in columns that follow what happens: only those that are seen are made, of a thousand too.

The cursor stays on its row wherever that goes; `f` keeps to rows of one state.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from gatewright.agent.commands.outcome import Choice
from gatewright.tui.line import BLANK, Line, Span, clip, line, wrap
from gatewright.tui.panels.listing import STEPS
from gatewright.tui.panels.sheet import LOW, Press, Sheet
from gatewright.tui.panels.table import figures_of, row_line, titles_of, widths_of

T = TypeVar("T")
MOVES = {**STEPS, "j": 1, "k": -1, "home": -(10**6), "end": 10**6}
ALL = "all"
NONE_KEPT = "None of them; f shows those of another state."


@dataclass(frozen=True)
class Act(Generic[T]):
    """A key for a row; `changes`: not while it may have been meant for the draft."""

    key: str
    label: str | Callable[[], str]  # empty: it has no word of its own now
    run: Callable[[T], None]
    changes: bool = True


@dataclass(frozen=True)
class Table(Generic[T]):
    """What the rows are, and how one of them is told."""

    columns: Sequence[str]
    rows: Callable[[], Sequence[T]]
    choice: Callable[[T], Choice]  # with the id of the row, and its cells
    state: Callable[[T], str]
    states: Sequence[str]  # to keep to
    empty: str


class Grid(Generic[T]):
    """Implements a page of the panel. `head` is told above, in so many cells."""

    def __init__(
        self,
        sheet: Sheet,
        table: Table[T],
        head: Callable[[int], Sequence[Line]],
        acts: Sequence[Act[T]],
        *,
        opens: str = "opens",
    ) -> None:
        """The first act is that of Enter and the right arrow."""
        self._sheet, self._table, self._head = sheet, table, head
        self._acts, self._opens = acts, opens
        self._at = 0
        self._chosen = ""
        self._kept = 0  # of the states, 0: all

    @property
    def here(self) -> str:
        """The id of the row under the cursor."""
        rows = self._rows()
        return self._id(rows[self._place(rows)]) if rows else ""

    @property
    def keys(self) -> Sequence[str]:
        if not self._table.rows():
            return ()
        labels = ((act, act.label) for act in self._acts[1:])
        said = ((act, each if isinstance(each, str) else each()) for act, each in labels)
        words = (f"{act.key} {label}" for act, label in said if label)
        return (f"enter {self._opens}", *words, "f by state")

    def press(self, press: Press) -> bool:
        key, character, settled = press
        rows = self._rows()
        self._at = self._place(rows)
        if (step := MOVES.get(key)) is not None:
            self._at = max(0, min(self._at + step, len(rows) - 1))
            self._chosen = self._id(rows[self._at]) if rows else ""
        elif key == "left":
            self._sheet.back()
        elif character == "f":
            self._kept = (self._kept + 1) % (len(self._table.states) + 1)
            self._chosen, self._at = "", 0
        elif act := self._meant(key, character):
            if rows and (settled or not act.changes):
                act.run(rows[self._at])
        else:
            return False
        return True

    def paste(self, text: str) -> None:
        """Nothing is typed here."""

    def _meant(self, key: str, character: str) -> Act[T] | None:
        if key in ("enter", "right"):
            return self._acts[0]
        return next((act for act in self._acts[1:] if act.key == character), None)

    def _id(self, row: T) -> str:
        return self._table.choice(row).id

    def _rows(self) -> Sequence[T]:
        rows = self._table.rows()
        if not self._kept:
            return rows
        kept = self._table.states[self._kept - 1]
        return [row for row in rows if self._table.state(row) == kept]

    def _place(self, rows: Sequence[T]) -> int:
        """Where the cursor is: on its row, else where one is left."""
        if not rows:
            return 0
        place = min(self._at, len(rows) - 1)
        if self._chosen and self._id(rows[place]) != self._chosen:
            found = (n for n, row in enumerate(rows) if self._id(row) == self._chosen)
            place = next(found, place)
        self._chosen = self._id(rows[place])
        return place

    def _empty(self) -> str:
        """None of the state that is kept to is not none at all."""
        return NONE_KEPT if self._kept and self._table.rows() else self._table.empty

    def lines(self, width: int, height: int) -> list[Line]:
        rows = self._rows()
        self._at = self._place(rows)
        head = [clip(row, width) for row in self._head(width)][: max(1, height - 3)]
        if self._kept:
            head[0] = line(
                *head[0].spans, Span(f"   {self._table.states[self._kept - 1]}", "accent")
            )
        gap = [] if height < LOW - 2 else [BLANK]
        room = max(1, height - len(head) - 1 - len(gap))
        first = max(0, min(self._at - room // 2, len(rows) - room))
        shown = [self._table.choice(row) for row in rows[first : first + room]]
        if not shown:
            return [*head, *gap, *wrap((Span(self._empty(), "dim"),), width)]
        widths = widths_of(self._table.columns, shown, width - 2)
        right = figures_of(self._table.columns, shown)
        titles = titles_of(self._table.columns, widths, right)
        made = [
            row_line(row, widths, right, here=first + n == self._at) for n, row in enumerate(shown)
        ]
        return [*head, *gap, titles, *(clip(row, width) for row in made)]
