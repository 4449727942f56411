"""How long a person took to answer what a turn waited for: the turn's end is stamped with it.

Who waits for whom is folded from starts and ends of agents; one that nobody was told of, as those
of a workflow, has nobody who waits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec.structs import replace

from gatewright.agent.record.events import (
    AgentFinished,
    AgentProgressed,
    AgentStarted,
    Answered,
    AnyEvent,
    Asked,
    TurnEnded,
    TurnStarted,
)
from gatewright.agent.session.waiting.standstill import Standstills


class TurnWaits:
    def __init__(self, clock: Callable[[], float]) -> None:
        self._still = Standstills(clock)
        self._owner: dict[str, str] = {}  # of agents that are waited for
        self._turns: set[str] = set()  # agents in one

    def stamped(self, event: AnyEvent, agent: str) -> AnyEvent:
        match event:
            case TurnStarted():
                self._turns.add(agent)
            case TurnEnded() if agent in self._turns:
                self._turns.discard(agent)
                waited = self._still.of(agent).seconds
                self._still.forget(agent)
                return replace(event, waited=round(waited * 1000))
            case Asked(id=id):
                self._still.begin(id, list(self._above(agent)))
            case Answered(id=id):
                self._still.end(id)
            case AgentStarted(child=child, background=False):
                self._owner[child] = agent
            case AgentProgressed(child=child, background=True):
                self._left(child)
            case AgentFinished(child=child):
                self._left(child)
            case _:
                pass
        return event

    def _left(self, child: str) -> None:
        if self._owner.pop(child, None) is not None:
            self._still.part(child)

    def _above(self, agent: str) -> Iterator[str]:
        """The turns that wait: its own, and those of whoever waits for it."""
        at: str | None = agent
        while at is not None:
            if at in self._turns:
                yield at
            at = self._owner.get(at)
