"""One call of a tool, within the limits of silence and of time, with its news on the way."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import msgspec

from gatewright.mcp.described import Described
from gatewright.mcp.errors import Lost, how_ended
from gatewright.tools.protocol import Progress, ToolContext, ToolFailure, ToolResult

if TYPE_CHECKING:
    from gatewright.mcp.talk.opening import Open

UNKNOWN = "Whether it had any effect is not known."
OFTEN = 0.1  # progress is shown ten times a second at most


class Limits(msgspec.Struct, frozen=True):
    """Of the server `name`: seconds without a word, seconds in all, characters of a result."""

    name: str
    silent: float
    wall: float
    cap: int


async def called(
    open: Open,
    tool: Described,
    arguments: dict[str, object],
    ctx: ToolContext,
    limits: Limits,
) -> ToolResult:
    """Raises Lost, Refused, and ToolFailure where it took too long."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    shown = began - OFTEN
    silent, wall = limits.silent, limits.wall

    def heard(text: str) -> None:
        nonlocal shown
        now = loop.time()
        if not limit.expired() and not paused:
            limit.reschedule(min(now + silent, began + wall))
        if now - shown >= OFTEN:
            shown = now
            ctx.progress(Progress(text, seconds=now - began))

    def waits(asked: bool) -> None:
        """A person: what they need is not silence."""
        nonlocal began
        if limit.expired():
            return
        if asked:
            limit.reschedule(None)
            paused.append(loop.time())
        else:
            began += loop.time() - paused.pop()
            limit.reschedule(min(loop.time() + silent, began + wall))

    paused: list[float] = []
    open.connection.answering.waits.add(waits)
    try:
        async with asyncio.timeout(min(silent, wall)) as limit:
            return await open.call(tool, arguments, heard, limits.cap)
    except Lost as lost:
        code = open.ended.code
        raise (lost if code is None else Lost(how_ended(code), sent=lost.sent)) from lost
    except TimeoutError:
        seconds = loop.time() - began
        why = "and was stopped" if wall < float("inf") and seconds >= wall else "without a word"
        raise ToolFailure(
            f"{limits.name} took {seconds:.0f} s for {tool.name} {why}. {UNKNOWN}"
        ) from None
    finally:
        open.connection.answering.waits.discard(waits)
