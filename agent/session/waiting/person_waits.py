"""Which agents stand still because a person is asked: the one that asks, and who waits for it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping

from gatewright.agent.agents.life import Life
from gatewright.agent.record.events import Answered, Asked, Envelope
from gatewright.agent.session.waiting.standstill import Standstill, Standstills
from gatewright.tools.access import MAIN


class PersonWaits:
    """`lives` are those that have not ended, by path; `tell` says what one is at now."""

    def __init__(
        self,
        clock: Callable[[], float],
        lives: Mapping[str, Life],
        tell: Callable[[Life], None],
    ) -> None:
        self._lives, self._tell = lives, tell
        self._still = Standstills(clock, self._moved)
        self._numbers = itertools.count(1)
        self._calls: dict[str, list[tuple[str, int]]] = {}  # that wait, by agent

    def of(self, path: str) -> Standstill:
        return self._still.of(path)

    def asks(self, agent: str, *, waiting: bool) -> None:
        """A call of it waits for the person, perhaps behind others, or does not any more."""
        life = self._lives.get(agent)
        if life is not None and life.running:
            life.asks(waiting=waiting)
            self._tell(life)
        mine = self._calls.setdefault(agent, [])
        if waiting:
            mine.append(("call", next(self._numbers)))
            self._still.begin(mine[-1], list(self._above(agent)))
        elif mine:
            self._still.end(mine.pop())
        if not mine:
            del self._calls[agent]

    def saw(self, envelope: Envelope) -> None:
        event = envelope.event
        if isinstance(event, Asked):
            self._still.begin(("ask", event.id), list(self._above(envelope.agent)))
        elif isinstance(event, Answered):
            self._still.end(("ask", event.id))

    def released(self, life: Life) -> None:
        """Nobody waits for it any more."""
        self._still.part(life.path)

    def ended(self, path: str) -> None:
        self._still.forget(path)

    def awaited(self, agent: str) -> bool:
        """Whether the person's turn waits for it."""
        while agent != MAIN:
            life = self._lives.get(agent)
            if life is None or life.background:
                return False
            agent = life.order.owner
        return True

    def _above(self, agent: str) -> Iterator[str]:
        """It, and as far up as each waits for the one below."""
        while (life := self._lives.get(agent)) is not None:
            yield agent
            if life.background:
                return
            agent = life.order.owner

    def _moved(self, path: str) -> None:
        if (life := self._lives.get(path)) is not None:
            self._tell(life)
