"""A panel inline above the prompt: a stack of views, the top one is seen and gets the keys.

The draft is not touched. For a moment after it appears no key changes anything: it may have been
meant for the draft.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Protocol

from textual import events
from textual.message import Message

from gatewright.agent.errors import GatewrightError
from gatewright.tui import cells
from gatewright.tui.ask.guard import GUARD
from gatewright.tui.line import BLANK, Line, Span, clip, indent, line, wrap
from gatewright.tui.rows import Rows
from gatewright.tui.sanitize import one_line
from gatewright.tui.style.look import Look
from gatewright.tui.work import Spawn, Work

ROOM = 22  # rows at most, however high the terminal is
SHOWN = "sheet-open"  # for style sheets: a low screen has no row for anything else
LOW = 12  # below so many rows nothing is left blank


class Press(NamedTuple):
    """A key; `settled` is False while it may have been meant for the draft."""

    key: str
    character: str
    settled: bool


class View(Protocol):
    """One page of a panel."""

    def lines(self, width: int, height: int) -> list[Line]: ...
    @property
    def keys(self) -> Sequence[str]:
        """What its keys do, in a word or two each."""
        ...

    def press(self, press: Press) -> bool:
        """False when the key means nothing here."""
        ...

    def paste(self, text: str) -> None: ...


class Sheet(Rows, can_focus=True):
    BACK = "surface"

    @dataclass
    class Typed(Message):
        """Text for the draft."""

        text: str

    def __init__(
        self,
        look: Look,
        *,
        spawn: Spawn,
        clock: Callable[[], float] = time.monotonic,
        id: str | None = None,
    ) -> None:
        super().__init__(look, id=id)
        self._spawn = spawn
        self._clock = clock
        self._views: list[View] = []
        self._settled = 0.0
        self._told = Span("")
        self._hidden = False
        self._high = False
        self.room = ROOM

    @property
    def open(self) -> bool:
        return bool(self._views)

    def show(self, view: View, *, high: bool = False) -> None:
        """Put a view in the place of all others; a `high` one takes what room there is."""
        self._views = [view]
        self._high = high
        self._begin()
        if not self._hidden:  # a question keeps the keys until it is answered
            self.focus()

    @property
    def high(self) -> bool:
        """Whether what is open takes what room there is."""
        return bool(self._views) and self._high

    def shows(self, view: View) -> bool:
        """Whether this is the view that is seen, or one below it."""
        return view in self._views

    def push(self, view: View) -> None:
        self._views.append(view)
        self._begin()

    def back(self) -> None:
        """To the view before; from the first one out of the panel."""
        if len(self._views) < 2:
            self.close()
            return
        self._views.pop()
        self.refresh_rows()

    def close(self) -> None:
        if self._views:
            self._views = []
            self.screen.set_class(False, SHOWN)
            self.refresh_rows()
            self.post_message(self.Closed())

    def hide(self, *, hidden: bool) -> None:
        """Make place for a question; what was typed stays."""
        if self._hidden and not hidden:
            self._settled = self._clock() + GUARD
        if self._hidden != hidden:
            self._hidden = hidden
            self.refresh_rows()

    def tell(self, text: str, role: str = "good") -> None:
        self._told = Span(one_line(text), role)
        self.refresh_rows()

    def work(self, doing: Work) -> None:
        """Do something that takes a moment; what goes wrong is told in the panel."""
        self._spawn(partial(self._work, doing))

    async def _work(self, doing: Work) -> None:
        try:
            await doing()
        except GatewrightError as error:
            self.tell(str(error), "warning")
        self.refresh_rows()

    def _begin(self) -> None:
        self._settled = self._clock() + GUARD
        self._told = Span("")
        self.screen.set_class(True, SHOWN)
        self.refresh_rows()

    def on_key(self, event: events.Key) -> None:
        if not self._views:
            return
        event.stop()
        event.prevent_default()
        self._told = Span("")
        if event.key in ("escape", "ctrl+c"):
            self.back()
            return
        settled, character = self._clock() >= self._settled, event.character or ""
        meant = self._views[-1].press(Press(event.key, character, settled))
        if not meant and self._high and character.isprintable() and character:
            self.hand_on(character)
        self.refresh_rows()

    def hand_on(self, character: str) -> None:
        """Somebody types while they only read: that is in nobody's way."""
        self.close()
        self.post_message(self.Typed(character))

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        if self._views:
            self._views[-1].paste(event.text.partition("\n")[0].rstrip("\r"))
            self.refresh_rows()

    def rows(self, width: int) -> list[Line]:
        if not self._views or self._hidden:
            return []
        inner, room = width - 2, self.room if self._high else min(self.room, ROOM)
        view = self._views[-1]
        foot = self._foot(view, inner)
        if self._told.text:
            told = 2 if room < LOW else 3  # a path may take a row and a half of what it says
            foot = [*wrap((self._told,), inner)[:told], *foot]
        gap = [] if room < LOW else [BLANK]
        body = view.lines(inner, max(2, room - len(foot) - len(gap)))
        bar = Span("\u258e ", "accent")
        return indent([clip(row, inner) for row in [*body, *gap, *foot]], bar, bar)

    def _foot(self, view: View, width: int) -> list[Line]:
        leave = "esc goes back" if len(self._views) > 1 else "esc closes"
        return foot((*view.keys, leave), width)


def foot(keys: Sequence[str], width: int) -> list[Line]:
    """The keys, on as many rows as they need; none is cut in two."""
    rows: list[str] = []
    row = ""
    for word in keys:
        longer = f"{row}  {word}" if row else word
        if row and cells.width(longer) > width:
            rows.append(row)
            longer = word
        row = longer
    return [line(Span(text, "faint")) for text in (*rows, row)]
