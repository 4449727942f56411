"""Agents that a client at the other end of a line looks at: their events under a number each.

At the session's end a task sends them, at the client's end a journal relays them; whoever closes
what it reads ends both.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from gatewright.agent.client.session_lines import (
    AnyRequest,
    HappenedThere,
    Unwatch,
    Watch,
    watched_line,
)
from gatewright.agent.errors import SessionError
from gatewright.agent.frontends.json_lines import Sink
from gatewright.agent.record.codec import decode
from gatewright.agent.record.events import Envelope
from gatewright.agent.record.hub import Subscription
from gatewright.agent.record.ids import new_id
from gatewright.agent.record.journal import Journal

MOST = 8  # at once
FULL = f"{MOST} agents are looked at already. Close one of their views."


class Watches:
    """The session's end."""

    def __init__(self, session: str, out: Sink) -> None:
        self._session = session
        self._out = out
        self._open: dict[int, tuple[Subscription, asyncio.Task[None]]] = {}

    def begin(self, watch: int, events: Subscription) -> None:
        """What is kept is sent at once. Raises SessionError where there are too many."""
        if len(self._open) >= MOST or watch in self._open:
            events.close()
            raise SessionError(FULL)
        self._send(watch, events.waiting())
        task = asyncio.create_task(self._run(watch, events), name="events of an agent")
        self._open[watch] = events, task

    def close(self, watch: int) -> None:
        if (found := self._open.get(watch)) is not None:
            found[0].close()

    async def end(self) -> None:
        open, self._open = self._open, {}
        for events, task in open.values():
            events.close()
            task.cancel()
        await asyncio.gather(*(task for _, task in open.values()), return_exceptions=True)

    async def _run(self, watch: int, events: Subscription) -> None:
        while batch := await events.batch():
            self._send(watch, batch)
        self._open.pop(watch, None)
        self._out.write(watched_line(watch, None, self._session))

    def _send(self, watch: int, batch: list[Envelope]) -> None:
        for envelope in batch:
            self._out.write(watched_line(watch, envelope, self._session))


class FarWatches:
    """The client's end."""

    def __init__(self, ask: Callable[[AnyRequest], Awaitable[Any]]) -> None:
        self._ask = ask
        self._open: dict[int, Journal] = {}
        self._last = 0

    async def open(self, agent: str) -> Subscription:
        """Raises SessionError."""
        self._last += 1
        number = self._last
        journal = self._open[number] = Journal(clock=time.time, new_id=new_id)
        journal.begin(())
        events = journal.hub().subscribe()
        try:
            await self._ask(Watch(agent=agent, watch=number))
        except BaseException:
            self._open.pop(number, None)
            raise
        events.left = partial(self._left, number)
        return events

    def take(self, told: HappenedThere) -> None:
        """Raises WireError."""
        journal = self._open.get(told.watch)
        if journal is None:
            return
        if event := bytes(told.event):
            journal.relay(decode(event))
        else:
            del self._open[told.watch]
            journal.close()

    def end(self) -> None:
        """The line has ended: nothing more comes."""
        open, self._open = self._open, {}
        for journal in open.values():
            journal.close()

    def _left(self, number: int) -> None:
        if self._open.pop(number, None) is not None:
            self._ask(Unwatch(watch=number))
