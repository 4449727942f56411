"""A line to type into, answered while it is typed: what it would do, or why it cannot be."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from gatewright.agent.commands.panels import Proposal
from gatewright.tui.line import BLANK, Line, Span, line, wrap
from gatewright.tui.panels.sheet import LOW, Press, Sheet
from gatewright.tui.sanitize import visible

if TYPE_CHECKING:
    from gatewright.agent.commands.rules.keeping_places import Shelf

LIMIT = 4000
EMPTY = Proposal(False, "")


class Wanted(NamedTuple):
    """What is asked for, what stands there already, where it may be kept, what completes it.

    `enters` says what Enter does with it.
    """

    title: str
    text: str = ""
    shelves: Sequence[Shelf] = ()
    complete: Callable[[str], Awaitable[Sequence[str]]] | None = None
    enters: str = "stores"


class Field:
    """`take` gets the text and where it is kept; something doubtful has to be confirmed."""

    def __init__(
        self,
        sheet: Sheet,
        wanted: Wanted,
        check: Callable[[str], Awaitable[Proposal]],
        take: Callable[[str, Shelf | None], Awaitable[None]],
    ) -> None:
        self._sheet = sheet
        self._title = wanted.title
        self._text = wanted.text
        self._shelves = wanted.shelves
        self._complete = wanted.complete
        self._enters = wanted.enters
        self._check = check
        self._take = take
        self._shelf = 0
        self._offered: Sequence[str] = ()
        self._proposal = EMPTY
        self._confirmed = False
        self._entering = False  # a second Enter before there is an answer confirms nothing
        self._changed()

    @property
    def keys(self) -> Sequence[str]:
        shelves = ("up down where it is kept",) if len(self._shelves) > 1 else ()
        completes = ("tab completes",) if self._complete else ()
        enter = "enter does it all the same" if self._confirmed else f"enter {self._enters}"
        return (enter, *completes, *shelves, "ctrl+u empties")

    def press(self, press: Press) -> bool:
        key, character, settled = press
        if key == "enter":
            if settled and not self._entering:
                self._entering = True
                self._sheet.work(self._enter)
        elif key in ("up", "down") and self._shelves:
            self._shelf = (self._shelf + (1 if key == "down" else -1)) % len(self._shelves)
        elif key == "tab" and self._complete:
            if self._offered:
                self._put(_common(self._offered, self._text))
        elif key == "backspace":
            self._put(self._text[:-1])
        elif key == "ctrl+u":
            self._put("")
        elif key == "ctrl+w":
            head = self._text.rstrip("/ ")
            self._put(head[: max(head.rfind("/"), head.rfind(" ")) + 1])
        elif character and character.isprintable():
            self._put(self._text + character)
        else:
            return False
        return True

    def paste(self, text: str) -> None:
        self._put(self._text + text)

    def _put(self, text: str) -> None:
        if text != self._text:
            self._text = text[:LIMIT]
            self._changed()

    def _changed(self) -> None:
        self._confirmed = False
        self._sheet.work(partial(self._answer, self._text))

    async def _answer(self, text: str) -> None:
        """An answer to what is no longer there is not shown."""
        found = await self._check(text)
        offered = await self._complete(text) if self._complete else ()
        if text == self._text:
            self._proposal, self._offered = found, offered

    async def _enter(self) -> None:
        text = self._text
        try:
            self._proposal = await self._check(text)
        finally:
            self._entering = False
        if not self._proposal.valid or text != self._text:
            return
        if self._proposal.doubt and not self._confirmed:
            self._confirmed = True
            return
        await self._take(text, self._shelves[self._shelf] if self._shelves else None)

    def lines(self, width: int, height: int) -> list[Line]:
        gap = [] if height < LOW - 2 else [BLANK]
        typed = Span(visible(self._text, strict=True), "text")
        head = wrap((Span(self._title, "text:b"),), width)
        field = wrap((Span("\u276f ", "accent"), typed, Span("\u258f", "accent")), width, hard=True)
        shelves = self._kept() if height >= LOW - 2 or not self._proposal.hints else []
        notes = self._notes(width)
        room = max(1, height - len(head) - len(field[-3:]) - len(shelves) - 2 * len(gap))
        between = gap if shelves else []
        return [*head, *gap, *field[-3:], *notes[:room], *between, *shelves][:height]

    def _notes(self, width: int) -> list[Line]:
        found = self._proposal
        parts = [(found.text, "good" if found.valid else "warning")]
        parts += [(hint, "dim") for hint in found.hints]
        if found.doubt:
            parts.append((found.doubt, "warning"))
        if len(self._offered) > 1 or (self._offered and self._offered[0] != self._text):
            parts.append(("  ".join(self._offered), "faint"))
        rows = [wrap((Span(visible(text), role),), width) for text, role in parts if text]
        return [row for block in rows for row in block]

    def _kept(self) -> list[Line]:
        if not self._shelves:
            return []
        rows: list[Line] = []
        for number, shelf in enumerate(self._shelves):
            here = number == self._shelf
            mark = Span("\u25b8 " if here else "  ", "accent")
            place = Span(f"  {shelf.shown}" if shelf.shown else "", "faint")
            rows.append(line(mark, Span(shelf.label, "text" if here else "dim"), place))
        return rows


def _common(offered: Sequence[str], text: str) -> str:
    """As far as all that is offered agrees."""
    first, last = min(offered), max(offered)
    size = next((n for n, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), None)
    found = first[:size] if size is not None else min(first, last, key=len)
    return found if len(found) > len(text) else offered[0]
