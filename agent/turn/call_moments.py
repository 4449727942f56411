"""What those who listen say of a call that ended, and of all calls of one answer together."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from gatewright.tools.moments import (
    BatchEnded,
    CallEnded,
    Moments,
    Verdict,
    told_besides,
)
from gatewright.tools.protocol import TextContent, ToolCall, ToolContext, ToolResult

STOPPED = "A hook ended the turn."


async def ended(call: ToolCall, ctx: ToolContext, result: ToolResult, ms: int) -> ToolResult:
    """The result as the model is to read it, with what was said beside it."""
    if ctx.moments is None:
        return result
    verdict = await ctx.moments.at(CallEnded(agent=ctx.agent, call=call, result=result, ms=ms))
    if verdict.output is not None:
        result = replace(result, content=(TextContent(verdict.output),))
    if verdict.word in ("deny", "ask") and verdict.text:
        result = replace(result, content=(*result.content, TextContent(verdict.text)))
    return _stopped(told_besides(result, verdict), verdict)


async def batch_ended(
    moments: Moments, agent: str, calls: Sequence[tuple[ToolCall, ToolResult]]
) -> tuple[tuple[str, ...], str]:
    """What the model is to know besides, and why the turn ends here; empty where it goes on."""
    verdict = await moments.at(BatchEnded(agent=agent, calls=tuple(calls)))
    ends = verdict.word in ("deny", "stop")
    return verdict.context, (verdict.text or STOPPED) if ends else ""


def _stopped(result: ToolResult, verdict: Verdict) -> ToolResult:
    if not verdict.ends_turn():
        return result
    return replace(result, stopped=verdict.text or STOPPED, ends_turn=True)
