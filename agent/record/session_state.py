"""What a session is besides its words: mode, model, effort, title, cost, tasks, files.

A fold over the main agent's events. A boundary carries it, so that resuming reads nothing older.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import msgspec

from gatewright.agent.record.events import (
    AnyEvent,
    AssistantMessage,
    AttemptPaid,
    Cleared,
    Compacted,
    EffortChanged,
    ModeChanged,
    ModelChanged,
    Rewound,
    SessionStarted,
    TitleChanged,
    ToolFinished,
    ToolStarted,
    TurnEnded,
    WorktreeChanged,
)
from gatewright.agent.record.events_of_past import Carried
from gatewright.agent.record.events_of_sessions import LENT
from gatewright.tools.access import MAIN
from gatewright.tools.blocks import Todo

FILES = 5
PATHS = ("file_path", "notebook_path")  # how tools name the file they work on
_Counted: TypeAlias = AssistantMessage | AttemptPaid | TurnEnded | Compacted | Cleared | Rewound


class Standing:
    def __init__(self) -> None:
        self.now: Carried = Carried()
        self._running: dict[str, str] = {}  # call -> the file it works on
        self._lent = ""  # the mode of a run that has borrowed one

    @classmethod
    def after(cls, events: Iterable[AnyEvent]) -> Standing:
        standing = cls()
        for event in events:
            standing.apply(event)
        return standing

    def apply(self, event: AnyEvent) -> None:
        match event:
            case ToolStarted(call_id=call_id, input=input):
                if path := next((str(input[key]) for key in PATHS if key in input), ""):
                    self._running[call_id] = path
            case ToolFinished():
                self._finished(event)
            case (
                AssistantMessage()
                | AttemptPaid()
                | TurnEnded()
                | Compacted()
                | Cleared()
                | Rewound()
            ):
                self._count(event)
            case _:
                self._name(event)

    def _name(self, event: AnyEvent) -> None:
        now: Carried = self.now
        match event:
            case SessionStarted(mode=mode, model=model):
                self.now = msgspec.structs.replace(now, mode=mode, model=model or now.model)
            case ModeChanged(mode=mode, by=by):
                if not self._is_lent(mode, by):
                    self.now = msgspec.structs.replace(now, mode=mode)
            case ModelChanged(model=model):
                self.now = msgspec.structs.replace(now, model=model)
            case EffortChanged(effort=effort):
                self.now = msgspec.structs.replace(now, effort=effort)
            case WorktreeChanged(path=path):
                self.now = msgspec.structs.replace(now, worktree=path)
            case TitleChanged(title=title):
                self.now = msgspec.structs.replace(now, title=title)
            case _:
                pass

    def _is_lent(self, mode: str, by: str) -> bool:
        """Whether that is the mode of a run that has borrowed one: plan mode goes back to it, too,
        and only the person makes it the session's."""
        if by == LENT:
            self._lent = mode if mode != self.now.mode else ""
            return True
        return bool(self._lent) and mode == self._lent and by != "user"

    def _count(self, event: _Counted) -> None:
        now: Carried = self.now
        match event:
            case AssistantMessage(usage=usage, cost=cost) | AttemptPaid(usage=usage, cost=cost):
                total = now.usage.plus(usage)
                self.now = msgspec.structs.replace(now, usage=total, cost=now.cost + cost)
            case TurnEnded():
                self._running.clear()
                self.now = msgspec.structs.replace(now, turns=now.turns + 1)
            case Compacted(carried=carried, usage=usage, cost=cost):
                total = carried.usage.plus(usage)
                self.now = msgspec.structs.replace(carried, usage=total, cost=carried.cost + cost)
            case Rewound(carried=carried):  # going back gives no money back
                self.now = carried
            case Cleared(carried=carried):
                self.now = msgspec.structs.replace(carried, todo=(), files=())

    def _finished(self, event: ToolFinished) -> None:
        path = self._running.pop(event.call_id, "")
        if path and event.ok:
            others = tuple(file for file in self.now.files if file != path)
            self.now = msgspec.structs.replace(self.now, files=(*others, path)[-FILES:])
        for block in event.view:
            if isinstance(block, Todo):
                self.now = msgspec.structs.replace(self.now, todo=block.items)

    def stamped(self, event: AnyEvent, agent: str = MAIN) -> AnyEvent:
        """The event as it is kept: a boundary, or a new branch, is given what holds right now."""
        if agent == MAIN and isinstance(event, Compacted | Cleared | Rewound):
            return msgspec.structs.replace(event, carried=self.now)
        return event
