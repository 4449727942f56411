"""Plan mode of one session: entered by the model or the person, left only by an approval."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from gatewright.agent.record.events import AnyEvent, Cleared, ModeChanged, UserMessage
from gatewright.agent.session.start.base import Base
from gatewright.tools.protocol import TextContent
from gatewright.tools.services import PlanStart

PLAN = "plan"
FOLDER = Path(".gatewright") / "plans"


class PlanModes(Protocol):
    @property
    def before_plan(self) -> str: ...
    def current(self) -> str: ...
    def set(self, name: str) -> str: ...
    def leave_plan(self) -> str:
        """Restore the mode that was held before, and return it."""
        ...


class SessionPlanning:
    """Implements the `Planning` port of tools."""

    def __init__(self, modes: PlanModes, path: Path, emit: Callable[[AnyEvent], None]) -> None:
        self._modes = modes
        self._path = path
        self._emit = emit

    @property
    def path(self) -> Path:
        return self._path

    @property
    def back(self) -> str:
        return self._modes.before_plan

    def active(self) -> bool:
        return self._modes.current() == PLAN

    def enter(self) -> None:
        if not self.active():
            self._changed(self._modes.set(PLAN), "model")

    def leave(self, start: PlanStart, plan: str) -> None:
        """`clear` restarts the history with nothing but the plan."""
        mode = self._modes.leave_plan()
        if start == "accept_edits":
            mode = self._modes.set("acceptEdits")
        self._changed(mode, "plan")
        if start == "clear":
            self._emit(Cleared())
            text = f"Carry out this plan, which was approved:\n\n{plan}"
            self._emit(UserMessage(content=(TextContent(text),), hidden=True))

    def _changed(self, mode: str, by: str) -> None:
        self._emit(ModeChanged(mode=mode, by=by))


def plan_of(base: Base) -> Path:
    around = base.around
    return plan_file(
        around.where.root, around.places.home, base.start.id, in_project=around.trusted
    )


def plan_file(root: Path, own_home: Path, session: str, *, in_project: bool) -> Path:
    """One file per session; outside the project where that is not ours to write in."""
    writable = in_project and os.access(root, os.W_OK)
    base = root / FOLDER if writable else own_home / "plans"
    return base / f"{session}.md"
