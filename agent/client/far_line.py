"""Lines to and from who has the session, whatever carries them; requests, matched by their id."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Protocol

import msgspec

from gatewright.agent.client.framing import MAX_LINE
from gatewright.agent.client.port import Taken
from gatewright.agent.client.session_lines import Request, Responded, encoded
from gatewright.agent.errors import SessionError

LARGE = f"That has more than {MAX_LINE // 1024**2} MiB: too much for one message."


class LineEnded(SessionError):
    """No more lines come; its text says why, and what to do."""


class Line(Protocol):
    """What is sent never waits; what could not be sent ends the line."""

    def send(self, line: bytes) -> None: ...
    async def next(self) -> bytes:
        """The next line. Raises LineEnded."""
        ...

    async def close(self, *, at_once: bool = False) -> None:
        """Say that nothing more comes, and have the other end end too; bounded.

        Somebody reads on meanwhile, unless it is to be `at_once`.
        """
        ...


class FarRequests:
    """What was asked over a line and is not answered yet."""

    def __init__(self, line: Line) -> None:
        self._line = line
        self._last = 0
        self._waiting: dict[str, asyncio.Future[dict[str, Any]]] = {}
        self._ended = ""

    def ask(self, request: Request) -> asyncio.Future[dict[str, Any]]:
        """Sent at once; the answer, or a SessionError with what to tell the person."""
        future: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._last += 1
        id = f"c{self._last}"
        body = {"type": "control_request", "request_id": id, "request": request}
        line = encoded(body).encode("utf-8")
        if self._ended:
            future.set_exception(LineEnded(self._ended))
        elif len(line) > MAX_LINE:
            future.set_exception(SessionError(LARGE))
        else:
            self._waiting[id] = future
            self._line.send(line)
        return future

    def answered(self, responded: Responded) -> None:
        """One that nobody waits for is dropped."""
        response = responded.response
        future = self._waiting.pop(str(response.get("request_id")), None)
        if future is None or future.done():
            return
        if response.get("subtype") != "success":
            future.set_exception(SessionError(str(response.get("error") or "It was refused.")))
            return
        try:
            future.set_result(msgspec.convert(response.get("response"), dict[str, Any]))
        except msgspec.ValidationError as error:
            future.set_exception(SessionError(f"The answer is not understood here: {error}"))

    def end(self, why: str) -> None:
        """Nothing that waits will be answered."""
        self._ended = why
        waiting, self._waiting = self._waiting, {}
        for future in waiting.values():
            if not future.done():
                future.set_exception(LineEnded(why))


def taken_back(body: dict[str, Any]) -> Sequence[Taken]:
    """What was taken back; nothing where that is not understood."""
    try:
        return msgspec.convert(body.get("taken"), list[Taken])
    except msgspec.ValidationError:
        return ()
