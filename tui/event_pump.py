"""Carries events from the session to the screen: deltas at a steady pace, facts at once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence

from gatewright.agent.record.events import Envelope
from gatewright.agent.record.hub import Subscription, merge

PACE = 1 / 10  # seconds between two paints of streaming text
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
    return not any(envelope.event.durable for envelope in batch)


async def pump(
    subscription: Subscription,
    apply: Callable[[list[Envelope]], None],
) -> None:
    """Run until the subscription ends."""
    painted = before = 0.0
    while batch := await subscription.batch():
        while streaming(batch):
            left = painted + PACE - time.monotonic()
            if left <= 0:
                break
            early = painted - before >= PACE
            try:
                async with asyncio.timeout(min(left, PAUSE) if early else left):
                    more = await subscription.batch()
            except TimeoutError:
                break
            if not more:
                break
            batch += more
        apply(merged(batch))
        before, painted = painted, time.monotonic()
        await asyncio.sleep(0)
