"""Publish and subscribe: synchronous, ordered, and never in the way of the loop.

A subscriber that falls behind is bounded: past the limit, adjacent deltas of one agent are merged
in place; durable events are never dropped.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence

import msgspec

from gatewright.agent.record.events import (
    AnyEvent,
    Cleared,
    Compacted,
    Envelope,
    InputDelta,
    TextDelta,
    ThinkingDelta,
    ToolProgressed,
)

MERGE_ABOVE = 1000
KEPT = 2000  # durable events for late subscribers; the transcript has them all


class Subscription:
    """One consumer's queue. Iterate over events, or take all that is waiting as one batch."""

    def __init__(self, hub: Hub, backlog: Sequence[Envelope]) -> None:
        self._hub = hub
        self._waiting: list[Envelope] = list(backlog)
        self._news = asyncio.Event()
        self._closed = False
        if backlog:
            self._news.set()

    def put(self, envelope: Envelope) -> None:
        waiting = self._waiting
        if len(waiting) >= MERGE_ABOVE and (merged := merge(waiting[-1], envelope)):
            waiting[-1] = merged
        else:
            waiting.append(envelope)
        self._news.set()

    async def batch(self) -> list[Envelope]:
        """All that is waiting, at least one; an empty list once the hub or this is closed."""
        while not self._waiting and not self._closed:
            self._news.clear()
            await self._news.wait()
        return self.waiting()

    def waiting(self) -> list[Envelope]:
        """Take what waits right now, which may be nothing."""
        taken, self._waiting = self._waiting, []
        return taken

    async def __aiter__(self) -> AsyncIterator[Envelope]:
        while taken := await self.batch():
            for envelope in taken:
                yield envelope

    def close(self) -> None:
        self._closed = True
        self._hub.drop(self)
        self._news.set()


def _as_it_is(event: AnyEvent) -> AnyEvent:
    return event


class Hub:
    """Numbers events, keeps the durable ones for late subscribers, and hands them to everyone."""

    def __init__(
        self,
        *,
        clock: Callable[[], float],
        new_id: Callable[[], str],
        stamp: Callable[[AnyEvent], AnyEvent] = _as_it_is,
    ) -> None:
        self._clock = clock
        self._stamp = stamp
        self._new_id = new_id
        self._seq = 0
        self._leaf = ""
        self._kept: list[Envelope] = []
        self._taps: list[Callable[[Envelope], None]] = []
        self._subscriptions: list[Subscription] = []

    def restore(self, stored: Sequence[Envelope]) -> None:
        """Continue the numbering and the branch of a stored session."""
        for envelope in stored:
            self._seq += 1
            self._kept.append(msgspec.structs.replace(envelope, seq=self._seq))
            self._leaf = envelope.uuid

    def kept(self) -> Sequence[Envelope]:
        """The durable events since the last boundary; the oldest go once there are KEPT."""
        return self._kept

    @property
    def leaf(self) -> str:
        """The newest durable event: where the next one will hang."""
        return self._leaf

    def go_back(self, branch: Sequence[Envelope]) -> None:
        """The next event hangs at the end of `branch`, which late subscribers get from now on."""
        self._kept = list(branch[-KEPT:])
        self._leaf = branch[-1].uuid if branch else ""

    def _keep(self, envelope: Envelope) -> None:
        if envelope.agent == "main":  # others have transcripts of their own
            self._leaf = envelope.uuid
        if isinstance(envelope.event, Compacted | Cleared) and envelope.agent == "main":
            self._kept = []
        elif len(self._kept) >= KEPT:
            del self._kept[: KEPT // 4]
        self._kept.append(envelope)

    def tap(self, listener: Callable[[Envelope], None]) -> None:
        """A listener called within publish: for folds of the core itself, which cannot fail."""
        self._taps.append(listener)

    def publish(self, event: AnyEvent, *, agent: str = "main") -> Envelope:
        self._seq += 1
        envelope = Envelope(
            seq=self._seq,
            uuid=self._new_id() if event.durable else "",
            parent=self._leaf,
            timestamp=self._clock(),
            agent=agent,
            event=self._stamp(event) if agent == "main" else event,
        )
        if event.durable:
            self._keep(envelope)
        for listener in self._taps:
            listener(envelope)
        for subscription in self._subscriptions:
            subscription.put(envelope)
        return envelope

    def subscribe(self, *, since: int = 0) -> Subscription:
        backlog = [envelope for envelope in self._kept if envelope.seq > since]
        subscription = Subscription(self, backlog)
        self._subscriptions.append(subscription)
        return subscription

    def drop(self, subscription: Subscription) -> None:
        if subscription in self._subscriptions:
            self._subscriptions.remove(subscription)

    def close(self) -> None:
        for subscription in list(self._subscriptions):
            subscription.close()


def merge(first: Envelope, second: Envelope) -> Envelope | None:
    """One envelope that says what two adjacent deltas say, or None where nothing may be lost."""
    if first.agent != second.agent:
        return None
    match first.event, second.event:
        case TextDelta(text=one), TextDelta(text=two):
            joined: AnyEvent = TextDelta(text=one + two)
        case ThinkingDelta(text=one), ThinkingDelta(text=two):
            joined = ThinkingDelta(text=one + two)
        case InputDelta(call_id=a, json=one), InputDelta(call_id=b, name=name, json=two) if a == b:
            joined = InputDelta(call_id=a, name=name, json=one + two)
        case ToolProgressed(call_id=a), ToolProgressed(call_id=b) if a == b:
            joined = second.event
        case _:
            return None
    return msgspec.structs.replace(second, event=joined)
