"""Questions to the person, inline above the prompt: one at a time, the draft untouched.

A sentence being typed never says yes, see `Guard`; begun below the question, the agent is told it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial

from textual import events

from gatewright.tools.interact import ACCEPT, Answer, Ask, Option, Weighed
from gatewright.tui.ask import answer_keys as keys
from gatewright.tui.ask import messages as said
from gatewright.tui.ask.answer_keys import Held
from gatewright.tui.ask.guard import BURST, Early, Guard
from gatewright.tui.ask.inside import Inside, Opened
from gatewright.tui.ask.question import Laid, Marks
from gatewright.tui.ask.reading import Reading, ScrolledRows
from gatewright.tui.ask.rule_edit import RuleEdit
from gatewright.tui.ask.ways import aside, edits, gives, marked, preselected, refusal, stops, ways
from gatewright.tui.line import Line
from gatewright.tui.state import Pending
from gatewright.tui.style.look import Look


class AskPanel(ScrolledRows, can_focus=True):
    """Shows the oldest pending question; answers leave as messages."""

    BACK = "surface"
    FOCUS_ON_CLICK = False  # words that are typed instead keep the keys

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
        self.count = self.at = 0
        self.picked: set[str] = set()
        self.room = 24  # rows the panel may take
        self._guard, self._early = Guard(), Early()
        self._held: Held | None = None
        self._laid: Laid | None = None
        self._inside = Inside()
        self._letters = True  # whether they answer
        self._clear = False  # no draft since this question was seen: what is typed is meant for it

    def show(self, asks: tuple[Pending, ...]) -> bool:
        """Show the first of these; True when it is another one than before."""
        first = asks[0] if asks else None
        fresh = first is not None and self.pending is not first
        if fresh or first is None:
            self._let_go()
        self.pending = first
        if first is not None and fresh:
            self.at, self.picked = preselected(first.ask), set()
            self._inside, self._reading = Inside(first.ask), Reading()
            self._early = Early()
            self._letters = self._clear = not self._drafting
            self._guard.start(self._clock())
            self.call_after_refresh(self.seen)
        self.refresh_rows()
        return fresh

    def seen(self) -> None:
        """The question was painted, or something that covered it has gone."""
        self._guard.seen(self._clock())

    def wants(self, width: int) -> int:
        """Rows with nothing cut and air between the parts."""
        if self.pending is None:
            return 0
        laid = self._lay(max(8, width - 2 * self.SIDE))
        if isinstance(opened := self._inside.opened, RuleEdit):
            return laid.wants_changed(opened, self.count)
        return laid.wants(self._marks(), self.count)

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

    def weighed(self, pending: Pending, rules: tuple[str, ...], found: Weighed) -> None:
        """What an "always" with these rules would do."""
        if self._inside.edit is not None and self.pending is pending:
            self._inside.edit.take(rules, found)
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
        opened = self._inside.opened
        handled = self._handled if opened is None else partial(self._fills_in, opened)
        if handled(event.key, event.character or "", now):
            event.stop().prevent_default()
        self._guard.press(now)

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        if (opened := self._inside.opened) is not None:
            opened.paste(event.text)
            self._wonder()
            return
        self._let_go()
        now = self._clock()
        self._begun_before(event.text[:1], now)
        self._type(event.text, "", now)

    def _fills_in(self, opened: Opened, key: str, character: str, now: float) -> bool:
        """A key of what the person opened; whatever else it may mean elsewhere."""
        if key == "enter" and self._guard.pasting(now):
            return True  # a line of something pasted
        pressed = opened.press(key, character)
        if pressed == "give":
            self._finish(opened.answer())
        elif pressed == "back":
            opened.open, self._laid = False, None
            self._guard.draft_changed(now)  # a second Esc was meant for the form too
        self._wonder()
        return pressed != ""

    def _change(self) -> None:
        if self._inside.edit is not None:
            self._inside.edit.open = True
            self._wonder()

    def _wonder(self) -> None:
        """Show what was typed, and have rules weighed of which nothing is known yet."""
        rules = self._inside.unweighed
        if rules is not None and self.pending is not None:
            self.post_message(said.WeighRules(self.pending, rules))
        self.refresh_rows()

    def _handled(self, key: str, character: str, now: float) -> bool:
        if self._held is not None:
            if key != "escape":
                self._guard.type(now)
            self._let_go(keep=key != "escape")
        if key in keys.PAGES or key in keys.SCROLLS:
            self._read(key)
        elif key in keys.PASSED:
            self.post_message(said.KeyPassed(key))
        elif key in keys.EDITS:
            self._type("", key, now)
        elif key not in keys.STEPS and keys.is_command(key):
            return False
        elif self._of_words(key, now):
            pass
        elif self._guard.blocks(now):
            if key in keys.STEPS:
                self._guard.type(now)  # it chose nothing, so Enter behind it says no yes
            self._too_early(character, now)
            self._type(character, key, now)
        else:
            self._answering(key, character, now)
        return True

    def _of_words(self, key: str, now: float) -> bool:
        """Enter and Esc behind words for this question, at once: they say yes to nothing."""
        if key == "escape" and self._clear and self._drafting:
            self._guard.type(now)  # a second one behind it refuses nothing
            self.post_message(said.TypedDraft("", key))
        elif key == "enter" and self._tells() and not self._guard.pasting(now):
            self._enter()
        else:
            return False
        return True

    def _answering(self, key: str, character: str, now: float) -> None:
        """A key after the pause."""
        if key in keys.STEPS:
            self._step(key)
        elif key == "escape":
            self._finish(refusal(self._ask()))
        elif key == "enter":
            self._enter()
        elif key == "space" and self._ask().multiple:
            self._mark(self.at)
        else:
            self._key(character, key, now)

    def _begun_before(self, text: str, now: float) -> None:
        """The first letters came before the question was read: they are not about it."""
        if text.isprintable() and text and not self._guard.typed and self._guard.fresh(now):
            self._clear = False

    def _too_early(self, character: str, now: float) -> None:
        self._begun_before(character, now)
        before = self._draft() or " " * self._guard.typed  # it may be on its way
        if self._early.typed(before, character, [way.key for way in self._ways()]):
            self.post_message(said.KeyUnclear(keys.AGAIN))

    def _tells(self) -> bool:
        """Whether Enter gives the draft as the answer."""
        words, meant = self._draft().strip(), self._clear and self._ask().free_text
        return meant and bool(words) and words[0] not in keys.COMMANDS

    def _first(self) -> int:
        """What Enter means before anything was chosen."""
        return len(self._ask().options) if self._tells() else preselected(self._ask())

    def _type(self, text: str, key: str, now: float) -> None:
        """Hand on what belongs to the draft; everything else is ignored."""
        if key in keys.EDITS and not self._draft():
            self._guard.draft_changed(now)
            self.post_message(said.TypedDraft("", key))  # what it takes away may be on its way
        elif key in keys.EDITS or (text and (text.isprintable() or not key)):
            self._guard.type(now)
            self.at = self._first() if self.pending is not None else 0
            self.post_message(said.TypedDraft("" if key in keys.EDITS else text, key))

    def _step(self, key: str) -> None:
        """Arrows stop at the first and last way to answer; Tab goes round."""
        entries, there = max(1, len(self._ways())), self.at + keys.STEPS[key]
        self._guard.moved = True
        self.at = there % entries if key == "tab" else max(0, min(there, entries - 1))
        self.refresh_rows()

    def _read(self, key: str) -> None:
        """Scroll the body; where all of it is seen, the conversation above."""
        if self._reading.whole:
            self.post_message(said.KeyPassed(key))
        else:
            self._reading.turn(key)
            self.refresh_rows()

    def _enter(self) -> None:
        if self._hidden(self.at):
            return
        told = self.at == len(self._ask().options) and self._tells()
        if told or self._guard.moved or not (self._guard.typed or self._drafting):
            self._hold("", self.at, BURST)
        else:
            waits = self._draft().lstrip().startswith(tuple(keys.COMMANDS))
            self.post_message(said.KeyUnclear(keys.LATER if waits else keys.UNCLEAR))

    def _ask(self) -> Ask:
        assert self.pending is not None
        return self.pending.ask

    def _key(self, character: str, key: str, now: float) -> None:
        letters = [way.key for way in self._ways()]
        if not self._drafting and (number := aside(self._ask(), character)):
            timer = self.set_timer(self._guard.hold, self._settle)
            self._held = Held(character, number, timer)
        elif not character or character not in letters:
            self._type(character, key, now)
        elif self._drafting and not self._again(character, now):
            self._type(character, key, now)
            self.post_message(said.KeyUnclear())
        elif self._hidden(number := letters.index(character)):
            return
        elif marked(self._ask(), number) and character.isdigit():
            self.at = number
            self._mark(number)  # it answers nothing yet, and the next number may follow at once
        else:
            self._hold(character, number, self._guard.hold)

    def _hidden(self, number: int) -> bool:
        """Whether this way is cut: it is shown first, and the same key again takes it."""
        if hidden := number in self._reading.cut:
            self.post_message(said.KeyUnclear(keys.LARGER if number == self.at else keys.STORES))
            self.at, self._guard.moved = number, self._guard.moved or number != self.at
            self.refresh_rows()
        return hidden

    def _again(self, character: str, now: float) -> bool:
        """Whether this letter, which came too early, is given once more."""
        return character == self._early.of(self._draft()) and self._guard.rested(now)

    def _hold(self, character: str, number: int, seconds: float) -> None:
        """An answer, unless another key follows at once."""
        self.at = number
        self._held = Held(character, number, self.set_timer(seconds, self._settle))
        self.refresh_rows()

    def _settle(self) -> None:
        """A busy screen reads its keys late: let them come first."""
        if self._held is not None:
            timer = self.set_timer(keys.SETTLE, self._give)
            self._held = self._held._replace(timer=timer)

    def _give(self) -> None:
        if self._held is None or self.pending is None:
            return
        held, self._held = self._held, None
        if held.character and held.character == self._early.of(draft := self._draft()):
            for _ in draft:
                self.post_message(said.TypedDraft("", "backspace"))
        if held.number == keys.READS:
            self.post_message(said.ShowWhole(self.pending))
        elif self._reading.unread and gives(self.pending, held.number):
            self.at = preselected(self._ask())
            self.post_message(said.KeyUnclear(keys.FIRST))
            self.refresh_rows()
        elif held.number == keys.CHANGES:
            self._change()
        elif held.character and marked(self._ask(), held.number):
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
                self.post_message(said.TypedDraft(held.character))
            self.refresh_rows()

    def _ways(self) -> Sequence[Option]:
        assert self.pending is not None
        return ways(self.pending)

    def _pick(self, number: int) -> None:
        ask = self._ask()
        if number >= len(ask.options):
            assert self.pending is not None
            if stops(self.pending, number):
                self.post_message(said.StopAsking(self.pending))
            elif edits(self.pending, number):
                self._change()
            elif self._tells():
                self.post_message(said.ToldDraft(self.pending))
            else:
                self.post_message(said.WantsText(self.pending))
            return
        if marked(ask, number):
            if self.picked:
                picked = tuple(option.id for option in ask.options if option.id in self.picked)
                self._finish(Answer(choices=picked))
            else:  # the row under the cursor is no answer: it says that Enter gives what is marked
                self.post_message(said.KeyUnclear(keys.UNMARKED))
        elif self._inside.form is not None and ask.options[number].id == ACCEPT:
            self._inside.form.open = True
            self.refresh_rows()
        else:
            self._finish(Answer(choices=(ask.options[number].id,)))

    def _mark(self, number: int) -> None:
        self._guard.moved = True
        if marked(ask := self._ask(), number):
            self.picked ^= {ask.options[number].id}
            self.refresh_rows()

    def _finish(self, answer: Answer) -> None:
        assert self.pending is not None
        self.post_message(said.AnswerGiven(self.pending, answer))

    def rows(self, width: int) -> list[Line]:
        if self.pending is None:
            return []
        if (opened := self._inside.opened) is not None:
            return self._lay(width).opened(opened, self.room, self.count)
        rows, shown = self._lay(width).draw(self._marks(), self.room, self.count)
        if self._reading.drawn(shown):  # a yes counts now, or no more: its row says so
            rows, shown = self._lay(width).draw(self._marks(), self.room, self.count)
        return rows

    def _lay(self, width: int) -> Laid:
        assert self.pending is not None
        laid = self._laid
        if laid is None or laid.pending is not self.pending or laid.width != width:
            laid = self._laid = Laid(self.pending, width, self._inside.form)
        return laid

    def _marks(self) -> Marks:
        picked, since = frozenset(self.picked), self.pending.since if self.pending else 0.0
        waited = int(self._now() - since) if since else 0
        letters, tells = self._letters, self._tells()
        early, scroll = self._early.of(self._draft()), self._reading.scroll
        return Marks(self.at, picked, scroll, letters, early, tells, waited, self._reading.unread)
