"""A mode that a run borrows from the session: it is given back in every way the run can end.

The session's own mode is what is stored: whoever resumes after a crash is in that one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from gatewright.agent.autonomy.project.features import ProjectError
from gatewright.agent.record.events import AnyEvent, ModeChanged
from gatewright.agent.record.events_of_sessions import LENT

AUTO, PLAN, DEFAULT = "autoInProject", "plan", "default"
PLANNING = (
    "This session is in plan mode, in which nothing is changed: leave it first (Shift+Tab, or "
    "/mode default)."
)
ITSELF = frozenset({LENT, "model", "plan"})  # who changes it and does not take it over


class LentModes(Protocol):
    def current(self) -> str: ...
    def set(self, name: str) -> str: ...


class ModeLoan:
    def __init__(self, modes: LentModes, publish: Callable[[AnyEvent], object]) -> None:
        self._modes, self._publish = modes, publish
        self._before = ""  # while something is borrowed
        self.taken = ""  # the mode that the person chose meanwhile: it stays

    def begin(self) -> None:
        """Raises ProjectError."""
        now, self.taken = self._modes.current(), ""
        if now == PLAN:
            raise ProjectError(PLANNING)
        if now == AUTO:
            return
        try:
            mode = self._modes.set(AUTO)
        except ValueError as error:
            raise ProjectError(str(error)) from None
        self._before = now
        self._publish(ModeChanged(mode=mode, by=LENT))

    def saw(self, event: ModeChanged) -> None:
        if event.by not in ITSELF and event.mode != AUTO:
            self.taken, self._before = event.mode, ""

    def end(self) -> None:
        before, self._before = self._before, ""
        if not before:
            return
        try:
            mode = self._modes.set(before)
        except ValueError:  # settings forbid it by now, and what was borrowed is no one's
            mode = self._modes.set(DEFAULT)
        self._publish(ModeChanged(mode=mode, by=LENT))
