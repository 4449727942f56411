"""Questions to the person, inline above the prompt: one at a time, the draft untouched.

Keys typed within a moment of its appearance are not answers: they were meant for something else.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from textual import events
from textual.message import Message

from gatewright.tools.interact import Answer, Ask
from gatewright.tui.ask.question import TELL, Marks, draw_question
from gatewright.tui.line import Line
from gatewright.tui.look import Look
from gatewright.tui.rows import Rows
from gatewright.tui.state import Pending

GUARD = 0.4  # seconds


class AskPanel(Rows, can_focus=True):
    """Shows the oldest pending question; answers leave as messages."""

    BACK = "surface"

    class Answered(Message):
        def __init__(self, id: int, answer: Answer) -> None:
            super().__init__()
            self.id = id
            self.answer = answer

    class WantsText(Message):
        """The person wants to answer in words: the screen opens the line editor."""

        def __init__(self, id: int) -> None:
            super().__init__()
            self.id = id

    class WantsMode(Message):
        """The person answers by another mode: what waits is decided again."""

    def __init__(
        self, look: Look, *, clock: Callable[[], float] = time.monotonic, id: str | None = None
    ) -> None:
        super().__init__(look, id=id)
        self._clock = clock
        self.pending: Pending | None = None
        self.count = 0
        self.at = 0
        self.picked: set[str] = set()
        self.scroll = 0
        self.room = 24  # rows the panel may take
        self._since = 0.0
        self._hidden = 0

    def show(self, asks: tuple[Pending, ...]) -> bool:
        """Show the first of these; True when it is another one than before."""
        first = asks[0] if asks else None
        self.count = len(asks)
        fresh = first is not None and (self.pending is None or self.pending.id != first.id)
        self.pending = first
        if fresh:
            self.at, self.scroll, self.picked = 0, 0, set()
            self._since = self._clock()
        self.refresh_rows()
        return fresh

    @property
    def guarded(self) -> bool:
        """Whether keys are not answers yet."""
        return self._clock() - self._since < GUARD

    def on_key(self, event: events.Key) -> None:
        if self.pending is None:
            return
        if self._handled(event.key, event.character or ""):
            event.stop()
            event.prevent_default()

    def _handled(self, key: str, character: str) -> bool:
        steps = {"up": -1, "down": 1, "ctrl+p": -1, "ctrl+n": 1, "tab": 1}
        if key == "shift+tab":
            self.post_message(self.WantsMode())
        elif key in steps:
            self.at = (self.at + steps[key]) % max(1, self._entries())
            self.refresh_rows()
        elif key in ("pageup", "pagedown"):
            step = max(1, self.room // 2)
            self.scroll = max(0, self.scroll + (step if key == "pagedown" else -step))
            self.refresh_rows()
        elif key.startswith(("ctrl+", "alt+", "f")) and len(key) > 1:
            return False
        elif self.guarded:
            return True
        elif key == "escape":
            self._finish(self._refusal())
        elif key == "enter":
            self._pick(self.at)
        elif key == "space" and self._ask().multiple:
            self._mark(self.at)
        else:
            self._key(character)
        return True

    def _ask(self) -> Ask:
        assert self.pending is not None
        return self.pending.ask

    def _key(self, character: str) -> None:
        if character == TELL and self._ask().free_text:
            self._pick(len(self._ask().options))
            return
        for number, option in enumerate(self._ask().options):
            if option.key and option.key == character:
                self.at = number
                self._pick(number)
                return

    def _entries(self) -> int:
        ask = self._ask()
        return len(ask.options) + int(ask.free_text)

    def _refusal(self) -> Answer:
        """What Escape means: the option that says no, or no answer at all."""
        ids = [option.id for option in self._ask().options]
        return Answer(choices=("no",)) if "no" in ids else Answer(cancelled=True)

    def _pick(self, number: int) -> None:
        ask = self._ask()
        if number >= len(ask.options):
            assert self.pending is not None
            self.post_message(self.WantsText(self.pending.id))
            return
        if ask.multiple:
            if not self.picked:
                self._mark(number)
            self._finish(Answer(choices=tuple(o.id for o in ask.options if o.id in self.picked)))
        else:
            self._finish(Answer(choices=(ask.options[number].id,)))

    def _mark(self, number: int) -> None:
        options = self._ask().options
        if number < len(options):
            self.picked ^= {options[number].id}
            self.refresh_rows()

    def _finish(self, answer: Answer) -> None:
        assert self.pending is not None
        self.post_message(self.Answered(self.pending.id, answer))

    def rows(self, width: int) -> list[Line]:
        if self.pending is None:
            return []
        marks = Marks(at=self.at, picked=frozenset(self.picked), scroll=self.scroll)
        rows, self.scroll = draw_question(self.pending, marks, width, self.room, self.count)
        return rows
