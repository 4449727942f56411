"""What another agent asks us to do, as calls of that agent: through gate, hooks and transcript.

Nothing is done between two prompts, and what still runs when a turn ends is ended with it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from gatewright.agent.foreign.recording import Recording
from gatewright.agent.frontends.acp.jsonrpc import INVALID, RpcError
from gatewright.agent.record.events import ToolFinished
from gatewright.agent.record.ids import new_id
from gatewright.agent.record.messages import CallPart
from gatewright.agent.turn.stop import Stop
from gatewright.agent.turn.tool_calls import Finished, run_batch
from gatewright.agent.turn.turns import Ground
from gatewright.tools.moments import CallEnded, Moment, Moments, Verdict
from gatewright.tools.protocol import TextContent, ToolContext, ToolResult

STOPPED = "The turn was stopped."
SETTLES = 3.0  # seconds for calls that were stopped to say how they ended
MOST = 1_000  # calls of a turn, where its definition names no other number
NOT_NOW = "Nothing is done for you between two prompts."
PUT_OFF = "A hook put this call off, which no agent of another program can wait for."


class Halt(msgspec.Struct, frozen=True):
    """Why a turn ends although the other program would go on."""

    stop: Stop
    message: str = ""


class Done(msgspec.Struct, frozen=True):
    """A call that ended; `instead` is what a hook put in place of its output."""

    result: ToolResult
    instead: str | None = None

    @property
    def text(self) -> str:
        parts = self.result.content
        return "\n".join(part.text for part in parts if isinstance(part, TextContent))


Around = Callable[[ToolContext], ToolContext]


def as_it_is(ctx: ToolContext) -> ToolContext:
    return ctx


class Calls:
    """Those of one turn. `halt` hears why the turn is to end."""

    def __init__(self, ground: Ground, record: Recording, halt: Callable[[Halt], None]) -> None:
        self._ground, self._record, self._halt = ground, record, halt
        self._most = ground.limits.requests or MOST
        self._count = 0
        self._running: set[asyncio.Task[Finished]] = set()
        self._over = False

    @property
    def running(self) -> bool:
        return bool(self._running)

    @property
    def cwd(self) -> str:
        """Where its commands start."""
        return str(self._ground.where().cwd)

    async def run(self, name: str, given: Mapping[str, Any], around: Around = as_it_is) -> Done:
        """Raises RpcError where there is no turn for it, or no more."""
        if self._over:
            raise RpcError(INVALID, NOT_NOW)
        self._count += 1
        if self._count > self._most:
            self._halt(Halt(Stop.MAX_TURNS, f"Stopped after {self._most} calls, the limit."))
            raise RpcError(INVALID, STOPPED)
        part = CallPart(new_id(), name, dict(given))
        self._record.flush((part,))
        heard: list[str] = []

        def context(call_id: str) -> ToolContext:
            ctx = around(tools.context(call_id))
            if ctx.moments is None:
                return ctx
            return msgspec.structs.replace(ctx, moments=_Heard(ctx.moments, heard.append))

        tools = self._ground.tools()
        ports = msgspec.structs.replace(tools, context=context)

        async def batch() -> Finished:
            return (await run_batch((part,), ports))[0]

        task = asyncio.create_task(batch(), name=f"{name} for another program")
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        try:
            await asyncio.wait({task})
        finally:
            if not task.done():  # whoever asked is gone: the call ends, and says how
                task.cancel()
        if task.cancelled():
            raise RpcError(INVALID, STOPPED)
        result = self._judged(part, task.result().result)
        return Done(result, heard[-1] if heard else None)

    def _judged(self, part: CallPart, result: ToolResult) -> ToolResult:
        if result.waits:
            told = (TextContent(PUT_OFF),)
            self._ground.emit(ToolFinished(call_id=part.id, ok=False, content=told))
            return ToolResult.failed(PUT_OFF)
        if result.stopped:
            self._halt(Halt(Stop.HOOK_STOPPED, result.stopped))
        elif result.barred:
            self._halt(Halt(Stop.AUTO_DENIED, result.barred))
        elif result.ends_turn:
            self._halt(Halt(Stop.USER_REFUSED))
        return result

    async def stop(self) -> None:
        """Nothing is run any more; each says how it ended."""
        self._over = True
        for task in tuple(self._running):
            task.cancel()
        if self._running:
            await asyncio.wait(tuple(self._running), timeout=SETTLES)


class _Heard:
    """Tells what those who listen put in place of an output: nobody is to get the other one."""

    def __init__(self, moments: Moments, took: Callable[[str], None]) -> None:
        self._moments, self._took = moments, took

    async def at(self, moment: Moment) -> Verdict:
        verdict = await self._moments.at(moment)
        if isinstance(moment, CallEnded) and verdict.output is not None:
            self._took(verdict.output)
        return verdict
