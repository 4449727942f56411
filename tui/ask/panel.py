"""Questions to the person, inline above the prompt: one at a time, the draft untouched.

A sentence that is being typed never answers: its letters go on into the draft, see `Guard`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from textual import events
from textual.message import Message
from textual.timer import Timer

from gatewright.tools.interact import Answer, Ask
from gatewright.tui.ask.guard import Guard
from gatewright.tui.ask.question import TELL, UNREAD, Marks, draw_question
from gatewright.tui.line import Line
from gatewright.tui.look import Look
from gatewright.tui.rows import Rows
from gatewright.tui.state import Pending

SETTLE = 0.02  # seconds for keys that arrived while the screen was busy
STEPS = {"up": -1, "down": 1, "ctrl+p": -1, "ctrl+n": 1, "tab": 1}


class Held(NamedTuple):
    """An answer that waits whether its key was the beginning of a word."""

    character: str
    number: int
    timer: Timer


class AskPanel(Rows, can_focus=True):
    """Shows the oldest pending question; answers leave as messages."""

    BACK = "surface"
    FOCUS_ON_CLICK = False  # words that are typed instead keep the keys

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
        """The person wants another mode; this question stays as it is."""

    class Typed(Message):
        """Text for the draft; `key` is the key when it is none."""

        def __init__(self, text: str, key: str = "") -> None:
            super().__init__()
            self.text = text
            self.key = key

    class Unclear(Message):
        """Enter may have been meant for the draft: the person has to choose first."""

    def __init__(
        self,
        look: Look,
        *,
        clock: Callable[[], float] = time.monotonic,
        draft: Callable[[], str] = str,
        id: str | None = None,
    ) -> None:
        super().__init__(look, id=id)
        self._clock = clock
        self._draft = draft
        self.pending: Pending | None = None
        self.count = 0
        self.at = 0
        self.picked: set[str] = set()
        self.scroll = UNREAD
        self.room = 24  # rows the panel may take
        self._guard = Guard()
        self._held: Held | None = None
        self._above = self._below = 0  # rows of the body that are scrolled away

    def show(self, asks: tuple[Pending, ...]) -> bool:
        """Show the first of these; True when it is another one than before."""
        first = asks[0] if asks else None
        self.count = len(asks)
        fresh = first is not None and (self.pending is None or self.pending.id != first.id)
        if fresh or first is None:
            self._let_go()
        self.pending = first
        if first is not None and fresh:
            self.at, self.scroll, self.picked = preselected(first.ask), UNREAD, set()
            self._guard.start(self._clock())
        self.refresh_rows()
        return fresh

    def draft_changed(self) -> None:
        """Somebody types: a question that appears now interrupts a sentence."""
        self._guard.draft_changed(self._clock())

    def on_key(self, event: events.Key) -> None:
        if self.pending is None:
            return
        late = max(0.0, time.monotonic() - event.time)  # pressed before the screen came to it
        if self._handled(event.key, event.character or "", self._clock() - late):
            event.stop()
            event.prevent_default()

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        self._let_go()
        self._type(event.text, "", self._clock())

    def _handled(self, key: str, character: str, now: float) -> bool:
        if self._held is not None:
            if key != "escape":
                self._guard.type(now)
            self._let_go(keep=key != "escape")
        if key == "shift+tab":
            self.post_message(self.WantsMode())
        elif key in ("pageup", "pagedown"):
            step = max(1, self.room // 2)
            self._scroll(step if key == "pagedown" else -step)
        elif key not in STEPS and key.startswith(("ctrl+", "alt+", "f")) and len(key) > 1:
            return False
        elif self._guard.blocks(now):
            self._type(character, key, now)
        else:
            self._answering(key, character, now)
        return True

    def _answering(self, key: str, character: str, now: float) -> None:
        """A key after the pause."""
        if key in STEPS:
            self._step(key)
        elif key == "escape":
            self._finish(self._refusal())
        elif key == "enter":
            self._enter()
        elif key == "space" and self._ask().multiple:
            self._guard.moved = True
            self._mark(self.at)
        else:
            self._key(character, key, now)

    def _type(self, text: str, key: str, now: float) -> None:
        """Hand on what belongs to the draft; everything else is ignored."""
        if key == "backspace" or (text and (text.isprintable() or not key)):
            self._guard.type(now)
            self.at = preselected(self._ask()) if self.pending is not None else 0
            self.post_message(self.Typed("" if key == "backspace" else text, key))

    def _step(self, key: str) -> None:
        """Down reads the body to its end, then chooses; up goes the same way back."""
        delta = STEPS[key]
        if key == "down" and self._below:
            self._scroll(1)
            return
        if key == "up" and self.at == 0 and self._above:
            self._scroll(-1)
            return
        self._guard.moved = True
        self.at = (self.at + delta) % max(1, self._entries())
        self.refresh_rows()

    def _scroll(self, delta: int) -> None:
        self.scroll = max(0, self.scroll + delta)
        self.refresh_rows()

    def _enter(self) -> None:
        if self._guard.moved or not (self._guard.typed or self._draft().strip()):
            self._pick(self.at)
        else:
            self.post_message(self.Unclear())

    def _ask(self) -> Ask:
        assert self.pending is not None
        return self.pending.ask

    def _key(self, character: str, key: str, now: float) -> None:
        ask = self._ask()
        keys = [option.key for option in ask.options] + ([TELL] if ask.free_text else [])
        if not character or character not in keys:
            self._type(character, key, now)
            return
        self.at = keys.index(character)
        timer = self.set_timer(self._guard.hold, self._settle)
        self._held = Held(character, self.at, timer)
        self.refresh_rows()

    def _settle(self) -> None:
        """A busy screen reads its keys late: let them come first."""
        if self._held is not None:
            timer = self.set_timer(SETTLE, self._give)
            self._held = self._held._replace(timer=timer)

    def _give(self) -> None:
        if self._held is not None:
            number = self._held.number
            self._held = None
            self._pick(number)

    def _let_go(self, *, keep: bool = True) -> None:
        """What is held is no answer; its letter belongs to the draft."""
        if self._held is not None:
            held, self._held = self._held, None
            held.timer.stop()
            if keep:
                self.at = preselected(self._ask())
                self.post_message(self.Typed(held.character))
            self.refresh_rows()

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
        rows, shown = draw_question(self.pending, marks, width, self.room, self.count)
        self.scroll, self._above, self._below = shown.above, shown.above, shown.below
        return rows


def preselected(ask: Ask) -> int:
    """What Enter means at first: trust is never given by the way."""
    keys = [option.key for option in ask.options]
    return keys.index("n") if ask.kind == "trust" and "n" in keys else 0
