"""What a client knows of a session at the other end of a line, folded from its lines and events."""

from __future__ import annotations

from collections.abc import Iterator

from gatewright.agent.client.session_lines import Facts
from gatewright.agent.record.events import (
    AgentFinished,
    AgentProgressed,
    AgentStarted,
    Answered,
    AnyEvent,
    Asked,
    Envelope,
    Noticed,
    QueueChanged,
    TasksChanged,
    ToolFinished,
    ToolProgressed,
    TurnEnded,
)
from gatewright.agent.turn.stop import Stop
from gatewright.tools.access import MAIN
from gatewright.tools.interact import Answer


class FarState:
    """`facts` as they were told last; the rest from events. `sent` counts what is on its way."""

    def __init__(self, facts: Facts, stays: str = "") -> None:
        self.facts = facts
        self.stays = stays  # its id among those that go on by themselves
        self.sent = 0
        self.queued = 0
        self.movable: set[str] = set()  # calls that can go to the background
        self.attended: set[str] = set()  # agents that the turn waits for
        self._asked: set[int] = set()
        self._tasks = False

    @property
    def busy(self) -> bool:
        return self.facts.busy or self.sent > 0

    @property
    def waits(self) -> bool:
        """Something was sent that may not have been taken up."""
        return self.queued > 0 or self.sent > 0

    def saw(self, envelope: Envelope) -> None:
        match envelope.event:
            case Asked(id=ask):
                self._asked.add(ask)
            case Answered(id=ask):
                self._asked.discard(ask)
            case QueueChanged(texts=texts):
                self.queued = len(texts)
            case ToolProgressed(call_id=id, movable=movable):
                (self.movable.add if movable else self.movable.discard)(id)
            case ToolFinished(call_id=id):
                self.movable.discard(id)
            case AgentStarted(child=child, background=False) if envelope.agent == MAIN:
                self.attended.add(child)
            case AgentFinished(child=child) | AgentProgressed(child=child, background=True):
                self.attended.discard(child)
            case TurnEnded():
                self.movable.clear()
                self.attended.clear()
            case TasksChanged(running=running):
                self._tasks = bool(running)
            case _:
                pass

    def asked(self, ask: int) -> bool:
        return ask in self._asked

    def ends(self, why: str) -> Iterator[AnyEvent]:
        """What a screen must know when nothing more comes."""
        for ask in sorted(self._asked):
            yield Answered(id=ask, answer=Answer(cancelled=True))
        if self.queued:
            yield QueueChanged(texts=())
        if self._tasks:
            yield TasksChanged(running=())
        if self.busy:
            yield TurnEnded(stop=Stop.MODEL_ERROR, message=why)
        else:
            yield Noticed(text=why, tone="error")
