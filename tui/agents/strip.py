"""The strip of agents below the transcript: seen while there is something, entered with Down.

It moves by itself only while somebody works, once a second. A letter does something only if no
other key follows at once: the beginning of a sentence stops nobody.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from textual import events
from textual.message import Message
from textual.timer import Timer

from gatewright.tui import cells
from gatewright.tui.agents.known import AgentRow, Agents
from gatewright.tui.agents.shown import asking, expiry, ordered, seen
from gatewright.tui.agents.strip_rows import ENTERED, strip_rows
from gatewright.tui.ask.asking import SHORT
from gatewright.tui.ask.guard import GUARD, HOLD
from gatewright.tui.line import Line, Span, clip, line
from gatewright.tui.rows import Rows
from gatewright.tui.state import View
from gatewright.tui.style.look import Look

TICK = 1.0
STEPS = {"up": -1, "down": 1, "ctrl+p": -1, "ctrl+n": 1, "pageup": -ENTERED, "pagedown": ENTERED}
ENDS = {"home": -(10**6), "end": 10**6}
LETTERS = {"x": "stop", "r": "resume"}
KEYS = ("enter opens", "x stops or clears", "r resumes", "esc goes back")
SMALL = 24  # rows of a screen below which the strip keeps to few rows


class Strip(Rows, can_focus=True):
    FOCUS_ON_CLICK = False

    @dataclass
    class Chosen(Message):
        """What is to be done with an agent: open, stop or resume."""

        row: AgentRow
        act: str

    @dataclass
    class Typed(Message):
        """Text that belongs to the prompt."""

        text: str

    def __init__(
        self,
        look: Look,
        *,
        now: Callable[[], float] = time.time,
        clock: Callable[[], float] = time.monotonic,
        id: str | None = None,
    ) -> None:
        super().__init__(look, id=id)
        self._now = now
        self._clock = clock
        self._agents: Agents = {}
        self._asking: frozenset[str] = frozenset()
        self._cleared: dict[str, float] = {}  # when the run ended that nobody wants to see
        self._rows: list[AgentRow] = []
        self._timer: Timer | None = None
        self._held: tuple[Timer, str, AgentRow] | None = None
        self._settled = 0.0
        self._clearing = False  # the last key cleared a row: one more of them is no word
        self._chosen = ""  # the path of the row under the cursor
        self.entered = False

    def show(self, view: View) -> None:
        """The agents are others than before, or somebody asks."""
        asks = asking(view)
        if view.agents is not self._agents or asks != self._asking:
            self._agents, self._asking = view.agents, asks
            self._again()

    def enter(self, path: str = "") -> bool:
        """Give it the keys, at this row; False while there is nothing."""
        if not self._rows or not self.display:
            return False
        self.entered, self._clearing = True, False
        self._stand_at(next((n for n, row in enumerate(self._rows) if row.path == path), 0))
        self.refresh_rows()
        self.focus()
        return True

    def leave(self) -> None:
        """The keys are the prompt's again."""
        self._let_go()
        if self.entered:
            self.entered = False
            self._again()
            self.screen.set_focus(None)

    def on_blur(self) -> None:
        """A question or a list has taken the keys."""
        self._let_go()
        if self.entered:
            self.entered = False
            self._again()

    def clear(self, row: AgentRow) -> None:
        """Do not show this end any more."""
        self._cleared[row.path] = row.ended
        self._again()

    def _again(self) -> None:
        now = self._now()
        self._cleared = {p: at for p, at in self._cleared.items() if p in self._agents}
        kept = {row.path for row in self._rows} if self.entered else set[str]()
        stays = {row.path for row in seen(self._agents, now)} | kept  # none goes under the cursor
        rows = [
            row for path, row in self._agents.items() if path in stays and not self._is_cleared(row)
        ]
        here, self._rows = self._at(), ordered(rows, self._asking)
        if self.entered and not self._rows:
            self.leave()
        elif self.entered and all(row.path != self._chosen for row in self._rows):
            self._stand_at(min(here, len(self._rows) - 1))
        self._wait(now)
        self.refresh_rows()

    def _is_cleared(self, row: AgentRow) -> bool:
        return not row.lives and self._cleared.get(row.path) == row.ended

    def _wait(self, now: float) -> None:
        """Come back in a second while somebody works, else when the next row goes by itself."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        works = any(
            row.state == "running" or row.until > now or row.path in self._asking
            for row in self._rows
        )
        if left := TICK if works else expiry(self._agents, now):
            self._timer = self.set_timer(left, self._again)

    # keys

    def _stand_at(self, number: int) -> None:
        """Another row is under the cursor without a key: none acts on it for a moment."""
        self._chosen = self._rows[number].path
        self._settled = self._clock() + GUARD

    def on_key(self, event: events.Key) -> None:
        held, self._held = self._held, None
        if held is not None and _clears(held[1], held[2]) and event.character == held[1]:
            held[0].stop()
            self.clear(held[2])
            held, self._clearing = None, True
            if not self.entered:  # it was the last one
                event.stop()
                event.prevent_default()
                return
        if held is not None:
            held[0].stop()
            self._type(held[1])
            if event.key in (*STEPS, *ENDS, "enter", "escape"):
                event.stop()
                event.prevent_default()
                return
        if self._handled(event.key, event.character or ""):
            event.stop()
            event.prevent_default()

    def _handled(self, key: str, character: str) -> bool:
        clearing, self._clearing = self._clearing, False
        if not self.entered:  # what was held has led back to the prompt
            if character and character.isprintable():
                self.post_message(self.Typed(character))
                return True
            return False
        if key in STEPS or key in ENDS:
            self._step({**STEPS, **ENDS}[key])
        elif key in ("escape", "ctrl+c"):
            self.leave()
        elif key == "enter":
            self._choose(self._rows[self._at()], "open")
        elif clearing and self._clears_next(character):
            pass
        elif character in LETTERS and self._clock() >= self._settled:
            self._held = self.set_timer(HOLD, self._give), character, self._rows[self._at()]
        elif character and character.isprintable():
            self._type(character)
        elif key.startswith("ctrl+") or key == "shift+tab":
            return False
        return True

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        self._let_go()
        self._type(event.text)

    def _step(self, delta: int) -> None:
        here = self._at()
        if here == 0 and delta == -1:
            self.leave()
            return
        self._chosen = self._rows[max(0, min(here + delta, len(self._rows) - 1))].path
        self.refresh_rows()

    def _clears_next(self, character: str) -> bool:
        """One row after the other may be cleared; whoever works is not stopped by the way."""
        if LETTERS.get(character) != "stop" or self._clock() >= self._settled:
            return False
        self._clearing = True
        if not (row := self._rows[self._at()]).lives:
            self._choose(row, "stop")
        return True

    def _give(self) -> None:
        if self._held is not None:
            (_, character, row), self._held = self._held, None
            self._choose(row, LETTERS[character])

    def _choose(self, row: AgentRow, act: str) -> None:
        if act == "stop" and not row.lives:
            self.clear(row)
            self._clearing = self.entered
        else:
            self.post_message(self.Chosen(row, act))

    def _type(self, text: str) -> None:
        """It was meant for the prompt."""
        self.leave()
        self.post_message(self.Typed(text))

    def _let_go(self) -> None:
        if self._held is not None:
            self._held[0].stop()
            self._held = None

    def _at(self) -> int:
        """Where the cursor is: on its agent wherever that stands now, else where one is left."""
        return next((n for n, row in enumerate(self._rows) if row.path == self._chosen), 0)

    def rows(self, width: int) -> list[Line]:
        if not self._rows:
            return []
        now, rows, height = self._now(), self._rows, self.screen.size.height
        if not self.entered:
            room = ENTERED if height >= SHORT or len(rows) == 1 else 0
            return strip_rows(rows, self._asking, now, width, room=room)
        room = 2 if height < SHORT else 4 if height < SMALL else ENTERED
        made = strip_rows(rows, self._asking, now, width, at=self._at(), room=room)
        return [*made, clip(line(Span(_keys(width), "faint")), width)]


def _clears(character: str, row: AgentRow) -> bool:
    return LETTERS[character] == "stop" and not row.lives


def _keys(width: int) -> str:
    """Those that there is room for; how to leave stays longest."""
    keys = list(KEYS)
    while len(keys) > 1 and cells.width("  ".join(keys)) > width:
        keys.pop(-2)
    return "  ".join(keys)
