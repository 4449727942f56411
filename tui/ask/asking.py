"""Questions on the screen of a session: how much room they take, who has the keys, what answers.

An answer goes to the question it was given to; when that is gone, its words become the draft.
"""

from __future__ import annotations

import asyncio
import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from textual.timer import Timer

from gatewright.tools.access import MAIN
from gatewright.tools.blocks import Code, Diff
from gatewright.tools.interact import Answer, leaves
from gatewright.tui.agents.shown import to_answer
from gatewright.tui.ask.question import exact
from gatewright.tui.ask.whole import to_read, whole
from gatewright.tui.blocks.diff import changes
from gatewright.tui.session_calls import Talk
from gatewright.tui.state import Pending
from gatewright.tui.transcript.items import Shown

if TYPE_CHECKING:
    from gatewright.tui.prompt.box import Box
    from gatewright.tui.screens.repl import Repl  # it makes this

SHORT = 16  # below so many rows the prompt loses its padding
TINY = 13  # below so many rows a question takes the place of the transcript
PADDING = 7  # blank rows and the spinner's, which go before anything is cut
LEAST = 7  # rows of a question, whatever the draft takes
READING = 8  # one row in so many is the conversation's


class Asking:
    """Keeps panel, reply and prompt together while somebody is asked."""

    def __init__(self, repl: Repl, talk: Talk) -> None:
        self._repl = repl
        self._talk = talk
        self._replying: Pending | None = None  # whom the open line answers
        self._carried = False  # whether its words were the draft
        self._to_weigh: tuple[Pending, tuple[str, ...]] | None = None
        self._weighing = False
        self._ticking: Timer | None = None

    def show(self) -> None:
        """The questions are others than before."""
        repl, asks = self._repl, self._repl.view.asks
        if self._replying is not None and not self._stands(self._replying):
            self._keep_words()
        if asks and (repl.picker.open or repl.sheet.open):
            repl.panel.draft_changed()  # somebody is busy with these
        repl.panel.count = to_answer(repl.view)
        fresh = repl.panel.show(asks)
        self._tick(waits=bool(asks) and asks[0].path != MAIN)
        repl.set_class(bool(asks), "asking")
        repl.sheet.hide(hidden=bool(asks))
        self.fit()
        if not asks:
            repl.box.startle()
            repl.return_focus()
        elif fresh:
            repl.desk.close_menu()
            repl.picker.close()
            repl.return_focus()

    def _tick(self, *, waits: bool) -> None:
        """How long another agent waits is told by the second; for the main one nothing moves."""
        if waits and self._ticking is None:
            self._ticking = self._repl.set_interval(1.0, self._repl.panel.refresh_rows)
        elif not waits and self._ticking is not None:
            self._ticking.stop()
            self._ticking = None

    def fit(self) -> None:
        """Give the question its rows; where it needs more, those of blank rows and padding."""
        repl, (width, height) = self._repl, self._repl.size
        if not repl.view.asks:
            repl.set_class(False, "dense")
            return
        reading = 0 if height < TINY else 1 if height < SHORT else height // READING
        reply = repl.reply.lines() if self._replying is not None else 0
        free = height - reading - repl.box.lines() - reply - max(1, repl.status.taken)
        airy = free - PADDING - repl.steps.taken - repl.agents.taken - repl.queue.taken
        dense = height < SHORT or repl.panel.wants(width) > airy
        repl.set_class(dense, "dense")
        room = max(free if dense else airy, min(LEAST, height - 2))
        count = to_answer(repl.view)
        if (room, count) != (repl.panel.room, repl.panel.count):
            repl.panel.room, repl.panel.count = room, count
            repl.panel.refresh_rows()

    def answered(self, pending: Pending, answer: Answer) -> None:
        """Enter or a letter answered; nothing else than the question it was given to."""
        if self._stands(pending):
            self._talk.answer(pending.id, answer)
            if leaves(pending.ask, answer):
                self._talk.leave_now()

    def stopped(self, pending: Pending) -> None:
        """The agent that asked is ended; its question goes with it."""
        if self._stands(pending):
            self._talk.stop_agent(pending.path)

    def weigh(self, pending: Pending, rules: tuple[str, ...]) -> None:
        """One at a time; of what was typed meanwhile only the last counts."""
        self._to_weigh = pending, rules
        if not self._weighing:
            self._weighing = True
            self._talk.spawn(self._weigh)

    async def _weigh(self) -> None:
        try:
            while (wanted := self._to_weigh) is not None:
                self._to_weigh = None
                pending, rules = wanted
                found = await self._talk.weigh(pending.id, rules)
                self._repl.panel.weighed(pending, rules, found)
                self.fit()
        finally:
            self._weighing = False

    def show_whole(self, pending: Pending) -> None:
        """Open the change within all of its file, or the script."""
        if not self._stands(pending):
            return
        match to_read(pending.ask):
            case Diff() as change:
                self._talk.spawn(partial(self._show_whole, change))
            case Code() as script:
                repl, shown = self._repl, Shown(0, script.path, (exact(script),))
                repl.read([shown], repl.return_focus, from_top=True)
            case None:
                pass

    async def _show_whole(self, change: Diff) -> None:
        repl = self._repl
        root, home = Path(repl.view.cwd), Path(os.environ.get("HOME", ""))
        found = exact(await asyncio.to_thread(whole, change, root, home))
        shown = Shown(0, f"{change.path}  +{change.added} -{change.removed}", (found,))
        repl.read([shown], repl.return_focus, from_top=True, start=changes)

    def _stands(self, pending: Pending) -> bool:
        return any(each is pending for each in self._repl.view.asks)

    # answers in words

    def open_reply(self, pending: Pending) -> None:
        if self._stands(pending):
            self._replying = pending
            if self._repl.box.text and not self._repl.reply.text:
                self._carried = True
                self._move(self._repl.box, self._repl.reply)
            self._line(shown=True)
            self._repl.reply.focus()

    def told(self, pending: Pending) -> None:
        """What was typed below the question is the answer."""
        if self._stands(pending) and (words := self._repl.box.chips.unfold(self._repl.box.take())):
            self._in_words(pending, words)

    def leave_reply(self) -> None:
        """Back to the options; the words stay for next time, those of the draft in the draft."""
        self._replying = None
        if self._carried:
            self._carried = False
            self._move(self._repl.reply, self._repl.box)
        self._line(shown=False)
        self._repl.panel.draft_changed()  # a second Esc was meant for the line too
        self._repl.return_focus()

    def replied(self, text: str) -> None:
        pending = self._replying
        if pending is None or not self._stands(pending):
            self._keep_words()
            return
        words = self._repl.reply.chips.unfold(text)
        self._close()
        self._in_words(pending, words)

    def _in_words(self, pending: Pending, words: str) -> None:
        """With what is marked: it stays so on the screen while words are typed."""
        picked = self._repl.panel.picked
        marked = tuple(each.id for each in pending.ask.options if each.id in picked)
        self._talk.answer(pending.id, Answer(marked, words.strip()))

    def _keep_words(self) -> None:
        """Nobody waits for them any more: they are the draft now, and answer nothing."""
        words = self._repl.reply.chips.unfold(self._repl.reply.text)
        self._close()
        self._repl.box.add(words)
        self._repl.panel.draft_changed()

    def _move(self, here: Box, there: Box) -> None:
        """What was typed once is not typed again."""
        there.put(here.chips.unfold(here.take()))

    def _close(self) -> None:
        self._replying = None
        self._carried = False
        self._repl.reply.put("")
        self._line(shown=False)

    def _line(self, *, shown: bool) -> None:
        self._repl.query_one("#reply-line").display = shown
        self.fit()
