"""Agents that a client at the other end of a line looks at: their events under a number each.

At the session's end one task sends them, at the client's end they come out of a hub that keeps
nothing; whoever closes what it reads ends both.
"""

from __future__ import annotations

import asyncio
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
from gatewright.agent.record.hub import Hub, Subscription

MOST = 8  # at once
FULL = f"{MOST} agents are looked at already. Close one of their views."


class Watches:
    """The session's end."""

    def __init__(self, session: str, out: Sink) -> None:
        self._session = session
        self._out = out
        self._open: dict[int, tuple[Subscription, asyncio.Task[None]]] = {}

    def open(self, watch: int, events: Subscription) -> None:
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


class _Passing(Hub):
    """Hands on and keeps nothing; says when nobody reads any more."""

    def __init__(self, left: Callable[[], object]) -> None:
        super().__init__()
        self._left = left

    def take(self, envelope: Envelope) -> None:
        self._hand_on(envelope)

    def drop(self, subscription: Subscription) -> None:
        super().drop(subscription)
        self._left()


class FarWatches:
    """The client's end."""

    def __init__(self, ask: Callable[[AnyRequest], Awaitable[Any]]) -> None:
        self._ask = ask
        self._hubs: dict[int, _Passing] = {}
        self._last = 0

    async def open(self, agent: str) -> Subscription:
        """Raises SessionError."""
        self._last += 1
        number = self._last
        hub = self._hubs[number] = _Passing(partial(self._left, number))
        events = hub.subscribe()
        try:
            await self._ask(Watch(agent=agent, watch=number))
        except BaseException:
            self._hubs.pop(number, None)
            raise
        return events

    def take(self, told: HappenedThere) -> None:
        """Raises WireError."""
        hub = self._hubs.get(told.watch)
        if hub is None:
            return
        if event := bytes(told.event):
            hub.take(decode(event))
        else:
            del self._hubs[told.watch]
            hub.close()

    def end(self) -> None:
        """The line has ended: nothing more comes."""
        hubs, self._hubs = self._hubs, {}
        for hub in hubs.values():
            hub.close()

    def _left(self, number: int) -> None:
        if self._hubs.pop(number, None) is not None:
            self._ask(Unwatch(watch=number))
