"""Esc, Ctrl+C, Ctrl+D and Ctrl+Z: what each of them ends, from what is nearest to the program.

Nothing is lost by one key: what empties the prompt or leaves is pressed twice, or can be undone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from gatewright.tui.session_calls import Talk
from gatewright.tui.terminal.suspend import shell_waits

if TYPE_CHECKING:
    from gatewright.tui.screens.repl import Repl  # it makes this

DOUBLE = 0.5  # seconds within which a second Esc means more than the first
TOLD = 2.0  # the same while a hint says so
AGAIN = "ctrl+c again to leave"
EMPTIES = "esc again empties the prompt"
BACK = "ctrl+_ brings it back"


class WayOut:
    def __init__(self, repl: Repl, talk: Talk, clock: Callable[[], float]) -> None:
        self._repl = repl
        self._talk = talk
        self._clock = clock
        self._leaving = False
        self._escaped = 0.0
        self._edits = 0  # of the prompt when a key was pressed that means more the second time

    def stay(self) -> None:
        """A second Ctrl+C comes too late to leave."""
        self._leaving = False

    def other_key(self) -> None:
        """A second Esc is a first one again."""
        self._escaped = 0.0

    def typed(self) -> None:
        """The text of the prompt is another: what a hint said of the one before is over."""
        self.stay()
        self.other_key()
        over = (AGAIN, EMPTIES, BACK) if self._repl.box.text else (AGAIN,)
        if self._repl.status.hint in over:
            self._repl.status.tell("")

    def _typed_since(self) -> bool:
        """At once, whenever the screen hears of it: keys may come faster."""
        before, self._edits = self._edits, self._repl.box.edits
        return before != self._edits

    def escape(self) -> None:
        repl = self._repl
        if self._typed_since():
            self._escaped = 0.0
        if repl.sheet.open:  # somebody clicked into the prompt meanwhile
            repl.sheet.close()
        elif repl.front.has_selection:
            repl.front.clear_selection()
        elif repl.watching.open:
            repl.watching.back()
        elif repl.desk.take_back() | self._talk.stop():  # both: what waits starts no new turn
            self._escaped = 0.0
        elif self._clock() - self._escaped >= (TOLD if repl.box.text else DOUBLE):
            self._escaped = self._clock()
            if repl.box.text:
                repl.tell(EMPTIES)
        else:
            self._escaped = 0.0
            self._twice()

    def _twice(self) -> None:
        repl = self._repl
        if repl.box.text:
            repl.box.put("")
            repl.tell(BACK)
        else:
            self._talk.call("rewind")

    def cancel(self) -> None:
        """Ctrl+C: copy what is selected, stop what runs, empty the prompt, at last leave."""
        repl = self._repl
        if self._typed_since():
            self._leaving = False
        if selected := repl.front.selected_text():
            repl.copy(selected)
            repl.front.clear_selection()
        elif repl.watching.open and not repl.box.text:
            repl.watching.close()
        elif repl.desk.take_back() | self._talk.stop():
            self._leaving = False
        elif repl.box.text:
            repl.box.history_.add(repl.box.chips.unfold(repl.box.take()))
            self._typed_since()
        elif self._leaving:
            self._talk.leave()
        else:
            self._leaving = True
            repl.tell(AGAIN)

    def suspend(self) -> None:
        if shell_waits():
            self._repl.app.action_suspend_process()  # pyright: ignore[reportUnknownMemberType]
        else:
            self._repl.tell("no shell waits for this program")

    def delete_or_leave(self) -> None:
        if self._repl.box.text:
            self._repl.box.action_delete_right()
        else:
            self._talk.leave()
