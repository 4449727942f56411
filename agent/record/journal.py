"""The one way anything that happened becomes known: numbered, folded, handed on.

What folds there are is said before the first event is handed on: none can be seen by one of
them and missed by another. Who plugs in later hears of everything from then on. Every agent has a
hub of its own; of a child's events only a few reach the hubs above it, so that whoever watches the
main agent neither waits for it nor drowns in it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import TypeAlias

from gatewright.agent.record.events import (
    AgentFinished,
    AgentProgressed,
    AgentStarted,
    Answered,
    AnyEvent,
    Asked,
    Decided,
    Envelope,
)
from gatewright.agent.record.hub import KEPT, Hub, Subscription
from gatewright.tools.access import MAIN

Fold: TypeAlias = Callable[[Envelope], None]
UPWARD = (AgentStarted, AgentFinished, AgentProgressed, Asked, Answered, Decided)


def of_main(saw: Callable[[AnyEvent], object]) -> Fold:
    """A fold over what the main agent does alone."""

    def fold(envelope: Envelope) -> None:
        if envelope.agent == MAIN:
            saw(envelope.event)

    return fold


def _as_it_is(event: AnyEvent, agent: str) -> AnyEvent:
    del agent
    return event


def ended(stored: Sequence[Envelope]) -> Subscription:
    """What an agent did that publishes no more, for one reader; then its end."""
    hub = Hub()
    hub.restore(stored[-KEPT:])
    events = hub.subscribe()
    hub.close()
    return events


class Journal:
    """What is published before `begin` waits for it; nothing else ever waits."""

    def __init__(
        self,
        *,
        clock: Callable[[], float],
        new_id: Callable[[], str],
        stamp: Callable[[AnyEvent, str], AnyEvent] = _as_it_is,
    ) -> None:
        self._clock = clock
        self._new_id = new_id
        self._stamp = stamp  # what a boundary carries, and the end of an agent
        self._seq = 0
        self._folds: tuple[Fold, ...] | None = None
        self._hubs = {MAIN: Hub()}
        self._waiting: deque[Envelope] = deque()
        self._handing_on = False

    def begin(self, folds: Sequence[Fold]) -> None:
        """From now on events are handed on, first to these in their order."""
        if self._folds is not None:
            raise RuntimeError("the folds of a journal are said once")
        self._folds = tuple(folds)
        self._hand_on()

    def follow(self, *folds: Fold) -> None:
        """Further ones, behind all others, from the next event on."""
        if self._folds is None:
            raise RuntimeError("a journal that has not begun is told all its folds then")
        self._folds += folds

    def restore(self, stored: Sequence[Envelope]) -> None:
        """Go on with the numbers and the branch of a stored session."""
        self._seq += len(stored)
        self._hubs[MAIN].restore(stored)

    def publish(self, event: AnyEvent, agent: str = MAIN) -> Envelope:
        """A fold may publish too: everybody still sees all events in one order."""
        hub = self.hub(agent)
        self._seq += 1
        envelope = Envelope(
            seq=self._seq,
            uuid=self._new_id() if event.durable else "",
            parent=hub.leaf,
            timestamp=self._clock(),
            agent=agent,
            event=self._stamp(event, agent),
        )
        if event.durable:
            hub.leaf = envelope.uuid
        self._waiting.append(envelope)
        self._hand_on()
        return envelope

    def keep(self, event: AnyEvent, agent: str) -> None:
        """For those alone who follow this agent: everybody else has been told another way."""
        hub = self.hub(agent)
        self._seq += 1
        uuid = self._new_id()
        now = self._clock()
        envelope = Envelope(
            seq=self._seq, uuid=uuid, parent=hub.leaf, timestamp=now, agent=agent, event=event
        )
        hub.leaf = uuid
        hub.take(envelope)

    def relay(self, envelope: Envelope) -> None:
        """Hand on what the journal of another process published, under its number and id."""
        self._seq = max(self._seq, envelope.seq)
        hub = self.hub()
        if envelope.agent == MAIN:
            hub.take(envelope)
        else:
            hub.overhear(envelope)

    def hub(self, agent: str = MAIN) -> Hub:
        """Where the events of this agent can be followed."""
        found = self._hubs.get(agent)
        if found is None:
            found = self._hubs[agent] = Hub()
        return found

    def knows(self, agent: str) -> bool:
        """Whether that agent spoke since this began, and has not ended."""
        return agent in self._hubs

    def forget(self, agent: str) -> None:
        """The agent has ended: who still follows it gets what waits, and the end."""
        if agent != MAIN and (hub := self._hubs.pop(agent, None)) is not None:
            hub.close()

    def close(self) -> None:
        for hub in self._hubs.values():
            hub.close()

    def _hand_on(self) -> None:
        if self._handing_on or self._folds is None:
            return
        self._handing_on = True
        try:
            while self._waiting:
                envelope = self._waiting.popleft()
                self.hub(envelope.agent).take(envelope)
                if envelope.agent != MAIN:
                    self._upwards(envelope)
                for fold in self._folds:
                    fold(envelope)
        finally:
            self._handing_on = False

    def _upwards(self, envelope: Envelope) -> None:
        above, told = envelope.agent.rpartition("/")[0], isinstance(envelope.event, UPWARD)
        while above:
            self.hub(above).overhear(envelope, told=told)
            above = above.rpartition("/")[0]
