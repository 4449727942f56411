"""The process of another agent and the lines between us: started, heard, ended whole.

Nothing it says ends us: what is no message is answered with an error, and whoever floods us, or
reads nothing of what we say, is ended itself.
"""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, TypeAlias

from gatewright.agent.agents.inert_text import in_line
from gatewright.agent.frontends.acp.intake import LIMIT, Received, Skipping
from gatewright.agent.frontends.acp.jsonrpc import Gone, Peer
from gatewright.agent.lsp.wire.connection import pipes
from gatewright.agent.lsp.wire.outgoing import Outgoing
from gatewright.tools.protocol import Child
from gatewright.tools.system.pipes import Drain
from gatewright.tools.system.untyped_json import Json

MOST = 60  # requests of it under way
FLOOD, WINDOW = 20_000, 5.0  # lines in seconds: more is no work of an agent
BREATH = 16  # lines between two rests: each begins a task
CODE = 0.5  # seconds in which a program that says no more has ended
GRACE = 2.0  # seconds from TERM to KILL
TAIL = 2_000  # bytes of what it said last on its standard error
# Starts it with these descriptors for its input and its errors. Raises ToolFailure.
Start: TypeAlias = Callable[[int, int], Awaitable[Child]]


class Talk:
    """`ended` is done once it says no more, with why."""

    def __init__(self, child: Child, our_out: int, our_err: int) -> None:
        self._child = child
        self._out = Outgoing(our_out)
        self._said = bytearray()
        self._errors = Drain(our_err, self._add)
        self._loop = asyncio.get_running_loop()
        self.heard = self._loop.time()  # when it said something last
        self.ended: asyncio.Future[str] = self._loop.create_future()
        self.peer = Peer(self, most=MOST)
        self._reading = asyncio.create_task(self._read(), name="reading another agent")

    @property
    def pid(self) -> int:
        return self._child.pid

    def write(self, text: str) -> None:
        """The sink of the peer's lines."""
        self._out.send(text.encode("utf-8", "replace"))
        if self._out.stuck:
            self._over("it does not read what it is sent")

    async def request(self, method: str, params: Json, seconds: float) -> Any:
        """What it answers. Raises RpcError, Gone or TimeoutError."""
        async with asyncio.timeout(seconds or None):
            return await self.peer.request(method, params)

    async def close(self) -> None:
        """TERM, and KILL for what is left of its group; nothing of it is left afterwards."""
        self._over("it was ended")
        self._out.close()
        try:
            await self._child.kill(GRACE)
        finally:
            self._reading.cancel()
            await asyncio.wait([self._reading])
            self._errors.close()
            await self.peer.close()

    async def _read(self) -> None:
        lines = _Lines(self._child, self._at_work)
        try:
            await self.peer.run(lines)
        except _Floods:
            self._over("it said more than anybody can read")
        else:
            self._over(await self._how_it_ended())

    def _at_work(self) -> None:
        self.heard = self._loop.time()

    async def _how_it_ended(self) -> str:
        """With its code, where that is known soon, and its last words."""
        why = "it said no more"
        with suppress(TimeoutError):
            async with asyncio.timeout(CODE):
                why = f"it ended with code {await self._child.wait()}"
        self._errors.rest()
        last = in_line(self._said.decode("utf-8", "replace")[-500:])
        return f"{why}; its last words: {last}" if last else why

    def _over(self, why: str) -> None:
        if not self.ended.done():
            self.ended.set_result(why)
            self.peer.leave()

    def _add(self, said: bytes) -> None:
        self._said += said[-TAIL:]
        del self._said[:-TAIL]


class _Lines:
    """Implements `Lines` over the output of a child."""

    limit = LIMIT

    def __init__(self, child: Child, heard: Callable[[], None]) -> None:
        self._child, self._heard = child, heard
        self._lines = Skipping(LIMIT)
        self._ready: deque[Received] = deque()
        self._loop = asyncio.get_running_loop()
        self._count, self._since, self._ended = 0, 0.0, False

    async def next(self) -> Received | None:
        while not self._ready:
            if self._ended:
                return None
            chunk = await self._child.read()
            self._heard()
            if chunk:
                self._ready += self._lines.add(chunk)
            else:
                self._ended = True
                self._ready.append(self._lines.rest())
        self._count += 1
        if self._count % BREATH == 0:
            self._weigh()
            await asyncio.sleep(0)
        return self._ready.popleft()

    def _weigh(self) -> None:
        now = self._loop.time()
        if now - self._since > WINDOW:
            self._count, self._since = BREATH, now
        elif self._count > FLOOD:
            raise _Floods


class _Floods(Exception):
    """Nobody can work through what it says."""


async def begun(start: Start) -> Talk:
    """Start it. Raises ToolFailure where it cannot be."""
    their_in, our_out, our_err, their_err = pipes()
    try:
        child = await start(their_in, their_err)
    except BaseException:
        os.close(our_out)
        os.close(our_err)
        raise
    finally:
        os.close(their_in)
        os.close(their_err)
    return Talk(child, our_out, our_err)


__all__ = ["Gone", "Start", "Talk", "begun"]
