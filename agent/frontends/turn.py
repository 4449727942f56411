"""Follow one session from now on: its live events until it has nothing left to do."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from gatewright.agent.events import Envelope, SessionStarted
from gatewright.agent.session import Session


async def live(session: Session) -> AsyncIterator[list[Envelope]]:
    """Batches of events, beginning with this process's SessionStarted, ending when it is idle.

    Stored history before that is left out.
    """
    subscription = session.subscribe()

    async def end_when_idle() -> None:
        await session.idle()
        subscription.close()

    ender: asyncio.Task[None] | None = None
    try:
        first = True
        while batch := await subscription.batch():
            if first:
                batch, first = from_start(batch), False
            yield batch
            ender = ender or asyncio.create_task(end_when_idle())
    finally:
        subscription.close()
        if ender is not None:
            ender.cancel()


def from_start(backlog: list[Envelope]) -> list[Envelope]:
    """The part of a backlog that this process made."""
    for at in range(len(backlog) - 1, -1, -1):
        if isinstance(backlog[at].event, SessionStarted):
            return backlog[at:]
    return backlog
