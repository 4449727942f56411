"""One line above the prompt: which step the work is at, for how long, how much was written.

The call that runs stands in the conversation. The row is always there, so nothing jumps, and
the moving cell is the only one repainted per frame.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from textual.timer import Timer

from gatewright.agent.commands.tasks import elapsed
from gatewright.tools.access import MAIN
from gatewright.tui import cells
from gatewright.tui.agents.shown import attended
from gatewright.tui.line import BLANK, Line, Span, clip, line
from gatewright.tui.rows import Rows
from gatewright.tui.sanitize import one_line
from gatewright.tui.state import View
from gatewright.tui.style.look import Look
from gatewright.tui.transcript.figures import count

FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
RATE = 8
FELT = 0.3  # seconds after which a hook is named
LETTERS = 4  # of a token, roughly, until its number is known
NAMED = 12  # cells below which the name of a step says nothing
AROUND = 16  # cells of the mark and of what stops it
LONG = 15.0  # seconds after which it is said that agents can go to the background
MOVE = "ctrl+b to background"


class Spinner(Rows):
    """Runs its timer only while something is going on."""

    def __init__(
        self, look: Look, *, clock: Callable[[], float] = time.time, id: str | None = None
    ) -> None:
        super().__init__(look, id=id)
        self._clock = clock
        self._view = View()
        self._timer: Timer | None = None
        self.add_class("idle")
        self.still = False  # reduced motion

    def show(self, view: View) -> None:
        """Idle, at work, waiting for the person, or until a request is tried again."""
        before, self._view = self._view, view
        if _facts(before) == _facts(view):
            return
        self.set_class(not (view.busy or view.asks or view.hooks), "idle")
        moving = (view.busy or any(each.waits for each in view.hooks)) and not view.asks
        if moving and self._timer is None:
            self._timer = self.set_interval(1.0 if self.still else 1 / RATE, self.refresh_rows)
        elif not moving and self._timer is not None:
            self._timer.stop()
            self._timer = None
        self.refresh_rows()

    def rows(self, width: int) -> list[Line]:
        return rows_of(self._view, self._clock(), width, still=self.still)


def rows_of(view: View, now: float, width: int, *, still: bool) -> list[Line]:
    """`Adding a test  14 s of 1 min 12 s · 2.1k tokens`; how long a wait for another try takes."""
    if view.asks:
        return [BLANK] if view.todo else []  # the steps begin below the conversation, not in it
    doing, since = _doing(view, now)
    if not (view.busy or since):
        return [BLANK]
    mark = "●" if still else FRAMES[int(now * RATE) % len(FRAMES)]
    left = math.ceil(view.until - now) if view.until else 0
    tail = _so_far(view, since, now)
    if left > 0:
        tail = f"  again in {left} s" + (f" ({view.tries})" if view.tries else "")
    room = width - cells.width(tail) - AROUND
    if left > 0 and cells.width(doing) > room:
        doing = doing.partition(": ")[0]  # what the server said of it says the same again
    doing = cells.fit(doing, room) if room >= NAMED or not view.todo else ""  # it is pinned below
    row = line(
        Span(f"{mark} ", "accent"),
        Span(doing if room >= NAMED or not doing else cells.fit(doing, NAMED), "dim"),
        Span(tail if doing else tail.lstrip(), "faint"),
        Span("  esc to stop" if view.busy and view.path == MAIN else "", "faint"),
        Span(f"  {MOVE}" if _movable(view, now) else "", "faint"),
    )
    return [clip(row, width)]


def _so_far(view: View, since: float, now: float) -> str:
    """Of what runs now and of the whole turn, without the time that the person took."""
    whole = int(now - view.busy_since - view.waited) if view.busy else 0
    part = int(now - since) if since else 0
    times = [elapsed(part)] if 1 <= part < whole - 1 or (part and not whole) else []
    times += [elapsed(whole)] if whole >= 1 else []
    facts = [" of ".join(times)] if times else []
    live = sum(len(item.text) for item in view.live) // LETTERS
    if written := max(0, view.usage.output - view.written_before) + live:
        facts.append(f"{count(written)} tokens")
    return f"  {' · '.join(facts)}" if facts else ""


def _movable(view: View, now: float) -> bool:
    """Whether it is time to say that the turn need not wait for its agents."""
    since = attended(view.agents) if view.path == MAIN else 0.0
    return bool(since) and now - since >= LONG


def _doing(view: View, now: float) -> tuple[str, float]:
    """What takes the time, and since when; a hook only once one can feel it."""
    hook = next((each for each in view.hooks if each.waits), None)
    if hook is not None and now - hook.since >= FELT:
        return one_line(f"Hook: {hook.label}"), hook.since
    since = view.doing_since if view.busy else 0.0
    if view.doing and not view.doing_since:
        return one_line(view.doing), 0.0  # what is in the way
    step = next((item.text for item in view.todo if item.state == "in_progress"), "")
    return one_line(step or view.doing) or "Working", since


def _facts(view: View) -> tuple[object, ...]:
    asked, hooks = bool(view.asks), view.hooks
    passed = (view.busy_since, view.doing_since, view.waited, view.until)
    return (*passed, view.doing, asked, view.tries, hooks, view.todo, view.usage, view.live)
