"""What a session is at this moment besides its words: mode, model, title, what it cost.

A fold over the main agent's events. A boundary carries it, so that resuming reads nothing older.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from gatewright.agent.events import (
    AnyEvent,
    AssistantMessage,
    Carried,
    Cleared,
    Compacted,
    ModeChanged,
    ModelChanged,
    SessionStarted,
    TitleChanged,
    TurnEnded,
)


class Standing:
    def __init__(self) -> None:
        self.now: Carried = Carried()

    @classmethod
    def after(cls, events: Iterable[AnyEvent]) -> Standing:
        standing = cls()
        for event in events:
            standing.apply(event)
        return standing

    def apply(self, event: AnyEvent) -> None:
        now: Carried = self.now
        match event:
            case SessionStarted(mode=mode, model=model):
                self.now = msgspec.structs.replace(now, mode=mode, model=model or now.model)
            case ModeChanged(mode=mode):
                self.now = msgspec.structs.replace(now, mode=mode)
            case ModelChanged(model=model):
                self.now = msgspec.structs.replace(now, model=model)
            case TitleChanged(title=title):
                self.now = msgspec.structs.replace(now, title=title)
            case AssistantMessage(usage=usage, cost=cost):
                total = now.usage.plus(usage)
                self.now = msgspec.structs.replace(now, usage=total, cost=now.cost + cost)
            case TurnEnded():
                self.now = msgspec.structs.replace(now, turns=now.turns + 1)
            case Compacted(carried=carried, usage=usage, cost=cost):
                self.now = msgspec.structs.replace(
                    carried, usage=carried.usage.plus(usage), cost=carried.cost + cost
                )
            case Cleared(carried=carried):
                self.now = carried
            case _:
                pass

    def stamped(self, event: AnyEvent) -> AnyEvent:
        """The event as it is kept: a boundary is given what holds at this moment."""
        if isinstance(event, Compacted | Cleared):
            return msgspec.structs.replace(event, carried=self.now)
        return event
