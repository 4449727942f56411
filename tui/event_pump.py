"""Carries events from the session to the screen: deltas at a steady pace, facts at once.

What agents are at is told a few times a second, of all of them together, the newest of each.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence

from gatewright.agent.record.events import (
    AgentFinished,
    AgentProgressed,
    AgentStarted,
    Decided,
    Envelope,
)
from gatewright.agent.record.hub import Subscription, merge

PACE = 1 / 10  # seconds between two paints of streaming text
CALM = 1 / 4  # seconds between two words about what agents are at
PAUSE = 0.025  # a stream that is silent so long is painted early, every second time at most


def merged(batch: Sequence[Envelope]) -> list[Envelope]:
    """Adjacent deltas of one message as one."""
    out: list[Envelope] = []
    for envelope in batch:
        joined = merge(out[-1], envelope) if out else None
        if joined is not None:
            out[-1] = joined
        else:
            out.append(envelope)
    return out


def streaming(batch: Sequence[Envelope]) -> bool:
    """Whether nothing in the batch is worth an immediate paint."""
    return not any(
        envelope.event.durable and not isinstance(envelope.event, Decided) for envelope in batch
    )


class Calm:
    """A subscription in which agents do not hurry anybody."""

    def __init__(self, events: Subscription) -> None:
        self._events = events
        self._held: dict[str, Envelope] = {}
        self._told = 0.0

    async def batch(self) -> list[Envelope]:
        """What waits, at least one; an empty list at the end."""
        while True:
            left = self._told + CALM - time.monotonic() if self._held else None
            if left is not None and left <= 0:
                return self._released()
            try:
                async with asyncio.timeout(left):
                    more = await self._events.batch()
            except TimeoutError:
                return self._released()
            rest = [envelope for envelope in more if not self._hold(envelope)]
            due = time.monotonic() - self._told >= CALM
            if due or not more:
                return rest + self._released()
            if rest:
                return rest

    def _hold(self, envelope: Envelope) -> bool:
        match envelope.event:
            case AgentProgressed(child=child):
                self._held[child] = envelope
                return True
            case AgentFinished(child=child) | AgentStarted(child=child):
                self._held.pop(child, None)
            case _:
                pass
        return False

    def _released(self) -> list[Envelope]:
        held, self._held = self._held, {}
        if held:
            self._told = time.monotonic()
        return list(held.values())


async def pump(
    subscription: Subscription,
    apply: Callable[[list[Envelope]], None],
) -> None:
    """Run until the subscription ends."""
    painted = before = 0.0
    events = Calm(subscription)
    while batch := await events.batch():
        while streaming(batch):
            left = painted + PACE - time.monotonic()
            if left <= 0:
                break
            early = painted - before >= PACE
            try:
                async with asyncio.timeout(min(left, PAUSE) if early else left):
                    more = await events.batch()
            except TimeoutError:
                break
            if not more:
                break
            batch += more
        apply(merged(batch))
        before, painted = painted, time.monotonic()
        await asyncio.sleep(0)
