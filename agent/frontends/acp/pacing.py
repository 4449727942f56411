"""Text that streams goes out at most twenty times a second, and everything in its order."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from gatewright.agent.frontends.acp.updates import both_of
from gatewright.tools.system.untyped_json import Json

BETWEEN = 0.05  # seconds
LARGEST = 32_000  # characters that are held back


class Paced:
    """The first piece goes at once; what comes soon after it is joined."""

    def __init__(self, send: Callable[[Json], None]) -> None:
        self._send = send
        self._loop = asyncio.get_running_loop()
        self._held: Json | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._next = 0.0

    def add(self, update: Json) -> None:
        if not str(update.get("sessionUpdate")).endswith("_chunk"):
            self.flush()
            self._send(update)
            return
        held = both_of(self._held, update) if self._held is not None else None
        if held is None:
            self.flush()
            held = update
        self._held = held
        now = self._loop.time()
        if now >= self._next or len(str(held["content"].get("text", ""))) > LARGEST:
            self.flush()
            self._next = now + BETWEEN
        elif self._timer is None:
            self._timer = self._loop.call_at(self._next, self._due)

    def flush(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        held, self._held = self._held, None
        if held is not None:
            self._send(held)

    def _due(self) -> None:
        self._timer = None
        self._next = self._loop.time() + BETWEEN
        self.flush()
