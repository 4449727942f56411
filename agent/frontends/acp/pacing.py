"""Text that streams goes out at most twenty times a second, and everything in its order."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from gatewright.agent.frontends.acp.updates import CHUNKS, alike, chunk
from gatewright.tools.system.untyped_json import Json

BETWEEN = 0.05  # seconds
MOST = 1000  # pieces that are held back


class Paced:
    """The first piece goes at once; what comes soon after it is joined."""

    def __init__(self, send: Callable[[Json], None]) -> None:
        self._send = send
        self._time, self._at = (loop := asyncio.get_running_loop()).time, loop.call_at
        self._kind = ""
        self._held: list[str] = []  # texts of one kind
        self._timer: asyncio.TimerHandle | None = None
        self._next = 0.0

    def add(self, update: Json) -> None:
        """In its order. What is no plain text of a message is sent as it is."""
        if update["sessionUpdate"] in CHUNKS and alike(update, update):
            self.text(update["sessionUpdate"], update["content"]["text"])
        else:
            self.flush()
            self._send(update)

    def text(self, kind: str, text: str) -> None:
        if kind != self._kind:
            self.flush()
            self._kind = kind
        self._held.append(text)
        if (now := self._time()) >= self._next or len(self._held) > MOST:
            self.flush()
            self._next = now + BETWEEN
        elif self._timer is None:
            self._timer = self._at(self._next, self._due)

    def flush(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._held:
            held, self._held = self._held, []
            self._send(chunk(self._kind, "".join(held)))

    def _due(self) -> None:
        self._timer = None
        self._next = self._time() + BETWEEN
        self.flush()
