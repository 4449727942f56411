"""A subscriber that keeps a list: the standard way to assert on what a session did."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Protocol, TypeVar

from gatewright.agent.record.events import AnyEvent, Envelope
from gatewright.agent.record.hub import Subscription
from tests.fakes.waiting import PATIENCE

E = TypeVar("E", bound=AnyEvent)


class Subscribable(Protocol):
    """A session, or a hub alone."""

    def subscribe(self, *, since: int = 0) -> Subscription: ...


class Recorder:
    """`async with Recorder(session) as seen`; then `await seen.until(TurnEnded)`."""

    def __init__(self, source: Subscribable, *, since: int = 0) -> None:
        self._subscription = source.subscribe(since=since)
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.envelopes: list[Envelope] = []

    @property
    def events(self) -> list[AnyEvent]:
        return [envelope.event for envelope in self.envelopes]

    def of(self, kind: type[E]) -> list[E]:
        return [event for event in self.events if isinstance(event, kind)]

    async def until(
        self,
        kind: type[E],
        *,
        where: Callable[[E], bool] = lambda event: True,
        count: int = 1,
        within: float = PATIENCE,
    ) -> E:
        """The `count`-th event of that kind, waiting for it if it has not happened yet."""
        try:
            async with asyncio.timeout(within):
                while len(found := [event for event in self.of(kind) if where(event)]) < count:
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            seen = ", ".join(type(event).__name__ for event in self.events)
            raise AssertionError(f"no {kind.__name__} within {within} s; saw: {seen}") from None
        return found[count - 1]

    async def __aenter__(self) -> Recorder:
        self._task = asyncio.create_task(self._record())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._subscription.close()
        if self._task:
            await self._task

    async def _record(self) -> None:
        while batch := await self._subscription.batch():
            self.envelopes += batch
            self._changed.set()
