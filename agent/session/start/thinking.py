"""Prepares the next command while the model thinks and writes: nobody waits for it then."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Collection

from gatewright.agent.record.events import (
    AnyEvent,
    AssistantMessage,
    InputDelta,
    ToolFinished,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)

# Seconds after which a request is out, and only the model is waited for.
THINKS, BEGINS = 0.02, 0.03


class Thinking:
    """Fed with the session's events. `prepare` is what it does, one at a time.

    The first time it may take much: before a call of one of `runs` was made or is written, the
    model has to think for `after` seconds, which may be endless.
    """

    def __init__(
        self, prepare: Callable[[], Awaitable[None]], runs: Collection[str], *, after: float
    ) -> None:
        self._prepare, self._runs = prepare, runs
        self._soon: asyncio.Handle | None = None
        self._task: asyncio.Future[None] | None = None
        self._waits = after  # until it was worth it once
        self._owes = False  # nothing was prepared since the model began to think

    def saw(self, event: AnyEvent) -> None:
        match event:
            case TurnStarted():
                self._thinks(BEGINS)
            case ToolFinished():
                self._thinks(THINKS)
            case InputDelta(name=name) if self._owes and name in self._runs:
                self._not_now()
                self._soon = asyncio.get_running_loop().call_soon(self._now)
            case ToolStarted(name=name):
                self._not_now()
                self._waits = 0.0 if name in self._runs else self._waits
            case AssistantMessage() | TurnEnded():
                self._not_now()
            case _:
                pass

    def _thinks(self, seconds: float) -> None:
        self._not_now()
        self._owes = True
        if self._waits < math.inf:
            after = max(seconds, self._waits)
            self._soon = asyncio.get_running_loop().call_later(after, self._now)

    def _not_now(self) -> None:
        self._owes = False
        if self._soon is not None:
            self._soon.cancel()
            self._soon = None

    def _now(self) -> None:
        self._not_now()
        self._waits = 0.0
        if self._task is None or self._task.done():
            self._task = asyncio.ensure_future(self._prepare())

    async def over(self) -> None:
        """The session ends: what is being prepared comes to its end."""
        self._not_now()
        if self._task is not None:
            await asyncio.wait([self._task])
