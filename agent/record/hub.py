"""Who follows one agent: synchronous, ordered, and never in the way of the loop.

A subscriber that falls behind is bounded: past the limit, adjacent deltas of one agent are merged
in place; durable events are never dropped.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from typing import TypeAlias

import msgspec

from gatewright.agent.record.events import (
    AnyEvent,
    AssistantMessage,
    Cleared,
    Compacted,
    Envelope,
    InputDelta,
    MessageDropped,
    TextDelta,
    ThinkingDelta,
    ToolProgressed,
    TurnEnded,
)
from gatewright.agent.record.passing import Passing

MERGE_ABOVE = 1000
OVERHEARD = 200  # durable events of agents below
KEPT = 2000  # durable events for late subscribers; the transcript has them all


Below: TypeAlias = tuple[type[AnyEvent], ...]  # kinds of events of agents below


class Subscription:
    """One consumer's queue. Iterate over events, or take all that is waiting as one batch."""

    def __init__(self, hub: Hub, backlog: Sequence[Envelope], below: Below = ()) -> None:
        self._hub = hub
        self.below = below  # that it wants beside the usual ones
        self._waiting: list[Envelope] = list(backlog)
        self._news = asyncio.Event()
        self._closed = False
        self.left: Callable[[], object] | None = None  # who wants to know that nobody reads it
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
        if self.left is not None:
            self.left()


class Hub:
    """The events of one agent: the durable ones are kept for late subscribers, all are handed on.

    What is overheard from its children is kept apart, so that they never push out its own.
    """

    def __init__(self) -> None:
        self.leaf = ""  # the newest durable event: where the next one will hang
        self._kept: list[Envelope] = []
        self._overheard: deque[Envelope] = deque(maxlen=OVERHEARD)
        self._streamed: list[Envelope] = []  # of the message that is being written
        self._passing = Passing()
        self._subscriptions: list[Subscription] = []
        self._curious: list[Subscription] = []  # those that want more of agents below

    def restore(self, stored: Sequence[Envelope]) -> None:
        """Go on with the branch of a stored session, numbered from one."""
        for seq, envelope in enumerate(stored, 1):
            self._kept.append(msgspec.structs.replace(envelope, seq=seq))
            self.leaf = envelope.uuid

    def kept(self) -> Sequence[Envelope]:
        """The durable events since the last boundary; the oldest go once there are KEPT."""
        return self._kept

    def go_back(self, branch: Sequence[Envelope]) -> None:
        """The next event hangs at the end of `branch`, which late subscribers get from now on."""
        self._kept = list(branch[-KEPT:])
        self.leaf = branch[-1].uuid if branch else ""

    def take(self, envelope: Envelope) -> None:
        """An event of its own agent."""
        event = envelope.event
        if event.durable:
            self._keep(envelope)
        self._passing.saw(envelope)
        if isinstance(event, TextDelta | ThinkingDelta):
            self._stream(envelope)
        elif self._streamed and isinstance(event, AssistantMessage | MessageDropped | TurnEnded):
            self._streamed.clear()
        self._hand_on(envelope)

    def overhear(self, envelope: Envelope, *, told: bool = True) -> None:
        """An event of an agent below; `told` is what all who watch this one must know."""
        if told:
            if envelope.event.durable:
                self._overheard.append(envelope)
            self._passing.saw(envelope)
            self._hand_on(envelope)
            return
        for subscription in self._curious:
            if isinstance(envelope.event, subscription.below):
                subscription.put(envelope)

    def _stream(self, envelope: Envelope) -> None:
        self._streamed.append(envelope)
        if len(self._streamed) > MERGE_ABOVE:
            whole: list[Envelope] = []
            for each in self._streamed:
                joined = merge(whole[-1], each) if whole else None
                whole[-1:] = [joined] if joined is not None else [*whole[-1:], each]
            self._streamed = whole

    def subscribe(
        self,
        *,
        since: int = 0,
        below: Below = (),
        streamed: bool = False,
    ) -> Subscription:
        """`streamed`: what there is of a message that is being written, too, and all else that
        passes and still holds."""
        backlog = [envelope for envelope in self._kept if envelope.seq > since]
        before = len(backlog)
        backlog += [envelope for envelope in self._overheard if envelope.seq > since]
        if streamed:
            backlog += (*self._passing.held(), *self._streamed)
        if len(backlog) > before:
            backlog.sort(key=lambda envelope: envelope.seq)
        subscription = Subscription(self, backlog, below)
        self._subscriptions.append(subscription)
        if below:
            self._curious.append(subscription)
        return subscription

    def drop(self, subscription: Subscription) -> None:
        if subscription in self._subscriptions:
            self._subscriptions.remove(subscription)
        if subscription in self._curious:
            self._curious.remove(subscription)

    def close(self) -> None:
        for subscription in list(self._subscriptions):
            subscription.close()

    def _keep(self, envelope: Envelope) -> None:
        if isinstance(envelope.event, Compacted | Cleared):
            self._kept = []
        elif len(self._kept) >= KEPT:
            del self._kept[: KEPT // 4]
        self._kept.append(envelope)

    def _hand_on(self, envelope: Envelope) -> None:
        for subscription in self._subscriptions:
            subscription.put(envelope)


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
