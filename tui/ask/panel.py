"""Questions to the person, inline above the prompt: one at a time, the draft untouched.

A sentence that is being typed never says yes: its letters go on into the draft, see `Guard`.
One that was begun below the question is what the agent is told instead.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from textual import events
from textual.message import Message
from textual.timer import Timer

from gatewright.tools.access import MAIN
from gatewright.tools.interact import Answer, Ask, Option
from gatewright.tui.ask.guard import BURST, Guard, Held
from gatewright.tui.ask.question import UNREAD, Laid, Marks
from gatewright.tui.ask.ways import is_command, preselected, stops, ways
from gatewright.tui.line import Line
from gatewright.tui.rows import Rows
from gatewright.tui.state import Pending
from gatewright.tui.style.look import Look

UNCLEAR = "choose with the arrows, then enter"
LATER = "answer first, then enter runs it"
LARGER = "make the window larger to read it"
SETTLE = 0.02  # seconds for keys that arrived while the screen was busy
WHEEL = 3  # rows
STEPS = {"up": -1, "down": 1, "ctrl+p": -1, "ctrl+n": 1, "tab": 1}
SCROLLS = {"shift+up": -1, "shift+down": 1}
PAGES = {"pageup": -1, "pagedown": 1}
PASSED = frozenset({"shift+tab", "ctrl+home", "ctrl+end"})  # they mean here what they always do
COMMANDS = "/!#"  # a draft that begins so is for nobody but the prompt
EDITS = frozenset({"backspace", "ctrl+u", "ctrl+w"})  # of the draft


class AskPanel(Rows, can_focus=True):
    """Shows the oldest pending question; answers leave as messages."""

    BACK = "surface"
    FOCUS_ON_CLICK = False  # words that are typed instead keep the keys

    @dataclass
    class Answered(Message):
        pending: Pending
        answer: Answer

    @dataclass
    class WantsText(Message):
        """The person wants to answer in words: the screen opens the line editor."""

        pending: Pending

    @dataclass
    class Told(Message):
        """The draft is the answer: what the agent is to do instead."""

        pending: Pending

    @dataclass
    class Stopped(Message):
        """The agent that asks is to end."""

        pending: Pending

    @dataclass
    class Passed(Message):
        """A key that is none of the question's; the question stays as it is."""

        key: str

    @dataclass
    class Typed(Message):
        """Text for the draft; `key` is the key when it is none."""

        text: str
        key: str = ""

    @dataclass
    class Unclear(Message):
        """The key may have been meant for the draft, or for what cannot be read."""

        hint: str = UNCLEAR

    def __init__(
        self,
        look: Look,
        *,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
        draft: Callable[[], str] = str,
        id: str | None = None,
    ) -> None:
        super().__init__(look, id=id)
        self._clock = clock
        self._now = now
        self._draft = draft
        self.pending: Pending | None = None
        self.count = 0
        self.at = 0
        self.picked: set[str] = set()
        self.scroll = UNREAD
        self.room = 24  # rows the panel may take
        self._guard = Guard()
        self._held: Held | None = None
        self._laid: Laid | None = None
        self._letters = True  # whether they answer
        self._clear = False  # no draft since this question was seen: what is typed is meant for it
        self._above = self._below = 0  # rows of the body that are scrolled away
        self._page = 1
        self._cut: frozenset[int] = frozenset()  # options that cannot be read as they stand
        self._ticking: Timer | None = None

    def show(self, asks: tuple[Pending, ...]) -> bool:
        """Show the first of these; True when it is another one than before."""
        first = asks[0] if asks else None
        self.count = len(asks)
        fresh = first is not None and self.pending is not first
        if fresh or first is None:
            self._let_go()
        self.pending = first
        if first is not None and fresh:
            self.at, self.scroll, self.picked = preselected(first.ask), UNREAD, set()
            self._letters = self._clear = not self._drafting
            self._guard.start(self._clock())
            self.call_after_refresh(self.seen)
        self._tick()
        self.refresh_rows()
        return fresh

    def _tick(self) -> None:
        """How long another agent waits is told by the second; for the main one nothing moves."""
        waits = self.pending is not None and self.pending.path != MAIN
        if waits and self._ticking is None:
            self._ticking = self.set_interval(1.0, self.refresh_rows)
        elif not waits and self._ticking is not None:
            self._ticking.stop()
            self._ticking = None

    def seen(self) -> None:
        """The question was painted, or something that covered it has gone."""
        self._guard.seen(self._clock())

    def wants(self, width: int) -> int:
        """Rows with nothing cut and air between the parts."""
        if self.pending is None:
            return 0
        return self._lay(max(8, width - 2 * self.SIDE)).wants(self._marks(), self.count)

    def draft_changed(self) -> None:
        """Somebody types: a question that appears now interrupts a sentence."""
        self._guard.draft_changed(self._clock())
        letters = not self._drafting
        if letters:
            self._guard.typed = False  # it was all taken back
            self._clear = True
        if self.pending is not None and letters != self._letters:
            self._letters = letters
            self.at = self._first()
            self.refresh_rows()

    @property
    def _drafting(self) -> bool:
        """Whether there is a draft, which letters would belong to."""
        return bool(self._draft())

    def on_key(self, event: events.Key) -> None:
        if self.pending is None:
            return
        late = max(0.0, time.monotonic() - event.time)  # pressed before the screen came to it
        now = self._clock() - late
        if self._handled(event.key, event.character or "", now):
            event.stop()
            event.prevent_default()
        self._guard.press(now)

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        self._let_go()
        now = self._clock()
        if self._guard.blocks(now):
            self._begun_before(event.text[:1])
        self._type(event.text, "", now)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self._wheel(event, -WHEEL)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self._wheel(event, WHEEL)

    def _wheel(self, event: events.MouseEvent, delta: int) -> None:
        event.stop()
        self._scroll(delta)

    def _handled(self, key: str, character: str, now: float) -> bool:
        if self._held is not None:
            if key != "escape":
                self._guard.type(now)
            self._let_go(keep=key != "escape")
        if key in PAGES or key in SCROLLS:
            self._read(key)
        elif key in PASSED:
            self.post_message(self.Passed(key))
        elif key in EDITS:
            self._type("", key, now)
        elif key not in STEPS and is_command(key):
            return False
        elif key == "enter" and self._tells() and not self._guard.pasting(now):
            self._enter()  # it says yes to nothing, so it may follow at once
        elif self._guard.blocks(now):
            if key in STEPS:
                self._guard.type(now)  # it chose nothing, so Enter behind it says no yes
            self._begun_before(character)
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

    def _begun_before(self, text: str) -> None:
        """The first letters came before the question was read: they are not about it."""
        if text.isprintable() and text and not self._guard.typed:
            self._clear = False

    def _tells(self) -> bool:
        """Whether Enter gives the draft as the answer."""
        words = self._draft().strip()
        return self._clear and self._ask().free_text and bool(words) and words[0] not in COMMANDS

    def _first(self) -> int:
        """What Enter means before anything was chosen."""
        return len(self._ask().options) if self._tells() else preselected(self._ask())

    def _type(self, text: str, key: str, now: float) -> None:
        """Hand on what belongs to the draft; everything else is ignored."""
        if key in EDITS and not self._draft():
            self._guard.draft_changed(now)
            self.post_message(self.Typed("", key))  # what it takes away may be on its way
        elif key in EDITS or (text and (text.isprintable() or not key)):
            self._guard.type(now)
            self.at = self._first() if self.pending is not None else 0
            self.post_message(self.Typed("" if key in EDITS else text, key))

    def _step(self, key: str) -> None:
        """Arrows stop at the first and last way to answer; Tab goes round."""
        entries, there = max(1, len(self._ways())), self.at + STEPS[key]
        self._guard.moved = True
        self.at = there % entries if key == "tab" else max(0, min(there, entries - 1))
        self.refresh_rows()

    def _read(self, key: str) -> None:
        """Scroll the body; where all of it is seen, the conversation above."""
        if self._above or self._below:
            self._scroll(SCROLLS[key] if key in SCROLLS else PAGES[key] * self._page)
        else:
            self.post_message(self.Passed(key))

    def _scroll(self, delta: int) -> None:
        self.scroll = max(0, self._above + delta)
        self.refresh_rows()

    def _enter(self) -> None:
        if self.at in self._cut:
            self.post_message(self.Unclear(LARGER))
            return
        told = self.at == len(self._ask().options) and self._tells()
        if told or self._guard.moved or not (self._guard.typed or self._drafting):
            self._hold("", self.at, BURST)
        else:
            waits = self._draft().lstrip().startswith(tuple(COMMANDS))
            self.post_message(self.Unclear(LATER if waits else UNCLEAR))

    def _ask(self) -> Ask:
        assert self.pending is not None
        return self.pending.ask

    def _key(self, character: str, key: str, now: float) -> None:
        keys = [way.key for way in self._ways()]
        if not character or character not in keys:
            self._type(character, key, now)
        elif self._drafting:
            self._type(character, key, now)
            self.post_message(self.Unclear())
        elif (number := keys.index(character)) in self._cut and number != self.at:
            self.at, self._guard.moved = number, True
            self.refresh_rows()  # it is shown first; the same key again takes it
        elif number in self._cut:
            self.post_message(self.Unclear(LARGER))
        else:
            self._hold(character, number, self._guard.hold)

    def _hold(self, character: str, number: int, seconds: float) -> None:
        """An answer, unless another key follows at once."""
        self.at = number
        self._held = Held(character, number, self.set_timer(seconds, self._settle))
        self.refresh_rows()

    def _settle(self) -> None:
        """A busy screen reads its keys late: let them come first."""
        if self._held is not None:
            timer = self.set_timer(SETTLE, self._give)
            self._held = self._held._replace(timer=timer)

    def _give(self) -> None:
        if self._held is None:
            return
        held, self._held = self._held, None
        if held.character and self._ask().multiple and held.number < len(self._ask().options):
            self._guard.moved = True
            self._mark(held.number)  # one of several: Enter gives them
        else:
            self._pick(held.number)

    def _let_go(self, *, keep: bool = True) -> None:
        """What is held is no answer; its letter belongs to the draft."""
        if self._held is not None:
            held, self._held = self._held, None
            held.timer.stop()
            if keep:
                self.at = preselected(self._ask())
            if keep and held.character:
                self.post_message(self.Typed(held.character))
            self.refresh_rows()

    def _ways(self) -> Sequence[Option]:
        assert self.pending is not None
        return ways(self.pending)

    def _refusal(self) -> Answer:
        """What Escape means: the option that says no, or no answer at all."""
        ids = [option.id for option in self._ask().options]
        return Answer(choices=("no",)) if "no" in ids else Answer(cancelled=True)

    def _pick(self, number: int) -> None:
        ask = self._ask()
        if number >= len(ask.options):
            assert self.pending is not None
            if stops(self.pending, number):
                self.post_message(self.Stopped(self.pending))
                return
            said = self.Told if self._tells() else self.WantsText
            self.post_message(said(self.pending))
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
        self.post_message(self.Answered(self.pending, answer))

    def rows(self, width: int) -> list[Line]:
        if self.pending is None:
            return []
        rows, shown = self._lay(width).draw(self._marks(), self.room, self.count)
        self._above, self._below, self._cut = shown.above, shown.below, shown.cut
        if self.scroll != UNREAD:
            self.scroll = shown.above
        self._page = max(1, len(shown.rows) - 2)
        return rows

    def _lay(self, width: int) -> Laid:
        assert self.pending is not None
        laid = self._laid
        if laid is None or laid.pending is not self.pending or laid.width != width:
            laid = self._laid = Laid(self.pending, width)
        return laid

    def _marks(self) -> Marks:
        picked, since = frozenset(self.picked), self.pending.since if self.pending else 0.0
        waited = int(self._now() - since) if since else 0
        letters, tells = self._letters, self._tells()
        return Marks(self.at, picked, self.scroll, letters=letters, tells=tells, waited=waited)
