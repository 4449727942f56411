"""The list above the prompt that completes what is being typed: commands, files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gatewright.tui import cells
from gatewright.tui.line import Line, Span
from gatewright.tui.rows import Rows
from gatewright.tui.sanitize import one_line
from gatewright.tui.style.look import Look

SHOWN = 8
BESIDE = 5  # rows that a low screen keeps for the prompt and what is around it


class Choice(NamedTuple):
    """`insert` replaces the word being completed; `label` and `detail` are what is seen.

    One that is `open` goes on: it is completed further.
    """

    insert: str
    label: str
    detail: str = ""
    source: str = ""
    open: bool = False


class Menu(Rows):
    """Holds the choices and which one is under the cursor; the screen moves and picks."""

    def __init__(self, look: Look, *, id: str | None = None) -> None:
        super().__init__(look, id=id)
        self.choices: Sequence[Choice] = ()
        self.at = 0
        self.note = ""

    @property
    def open(self) -> bool:
        return bool(self.choices)

    def offer(self, choices: Sequence[Choice], note: str = "") -> None:
        """Show these, and below them what is still to come; nothing of both closes the menu."""
        if list(choices) != list(self.choices):
            chosen = self.chosen() if note and self.note else None  # the list grows under the hand
            self.choices = choices
            self.at = choices.index(chosen) if chosen in choices and chosen is not None else 0
        elif note == self.note:
            return
        self.note = note
        self.refresh_rows()

    def close(self) -> None:
        self.offer(())

    def step(self, delta: int) -> None:
        if self.choices:
            self.at = (self.at + delta) % len(self.choices)
            self.refresh_rows()

    def chosen(self) -> Choice | None:
        return self.choices[self.at] if self.choices else None

    def rows(self, width: int) -> list[Line]:
        below = [Line((Span(f"  {self.note}", "faint"),))] if self.note else []
        if not self.choices:
            return below
        room = min(SHOWN, max(2, self.screen.size.height - BESIDE))
        first = max(0, min(self.at - room // 2, len(self.choices) - room))
        shown = self.choices[first : first + room]
        share = width // 3 if shown[0].label.startswith("/") else width // 2
        label_width = min(max(cells.width(c.label) for c in shown), share)
        rows = [
            choice_row(choice, label_width, width, selected=first + n == self.at)
            for n, choice in enumerate(shown)
        ]
        hidden = len(self.choices) - len(shown)
        if hidden:
            rows.append(Line((Span(f"  {hidden} more", "faint"),)))
        return rows + below


def choice_row(choice: Choice, label_width: int, width: int, *, selected: bool) -> Line:
    """One line of the menu: label, what it is, where it comes from."""
    prefix = "selected." if selected else ""
    mark = "▸ " if selected else "  "
    text = one_line(choice.label)
    label = cells.pad(_fitted(text, label_width), label_width)
    room = width - 2 - label_width - 2
    source = cells.fit_middle(one_line(choice.source), room * 2 // 3)
    detail = cells.fit(_columns(choice.detail), room - cells.width(source) - 2)
    gap = " " * max(0, room - cells.width(detail) - cells.width(source))
    spans = (
        Span(mark, f"{prefix}accent"),
        Span(label, "selected" if selected else "text"),
        Span("  " + detail, f"{prefix}dim"),
        Span(gap + source, f"{prefix}dim"),
    )
    return Line(spans, fill="selected" if selected else "")


def _fitted(text: str, width: int) -> str:
    """The end says most of a path, and of a command with an owner, whose arguments go first."""
    if not text.startswith("/"):
        return cells.fit_middle(text, width)
    if "__" in text and cells.width(text) > width:
        return cells.fit_middle(text.partition(" ")[0], width)
    name, _, usage = text.partition(" ")
    if usage and cells.width(text) > width:
        return cells.fit(f"{name} …", width)  # half of a usage says nothing
    return cells.fit(text, width)


def _columns(text: str) -> str:
    """One line, in which blanks that align columns stay."""
    return " ".join(map(one_line, text.split(" ")))
