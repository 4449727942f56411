"""Runs tools without any policy: read, describe, run, limit, normalise.

Only the permission gate may hold one. No method raises anything but CancelledError.
"""

from __future__ import annotations

import asyncio
import difflib
import logging
import math
from collections.abc import Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, cast

import msgspec

from gatewright.tools.abilities import Carrying, Foreseeing, KeyedForLoops, Looking
from gatewright.tools.access import Effect, Where
from gatewright.tools.calls import Facts, Foreseen, Prepared
from gatewright.tools.protocol import (
    Progress,
    Tool,
    ToolCall,
    ToolContext,
    ToolFailure,
    ToolResult,
    ToolSource,
)

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

_log = logging.getLogger("gatewright.tools")

TIME_LIMIT = 900.0  # above every limit a tool sets itself; people and agents may take longer

IMAGES = 2  # results with images made at a time: each may take much memory
MOST_NAMED = 50  # tools, in the answer to a call of one that there is not
FORESEEING = 10.0  # a dead network mount must not keep a turn for ever


def _defect(name: str, error: Exception, otherwise: str) -> str:
    """What the system did not let a tool do, such as a closed directory; `otherwise` a defect."""
    if not isinstance(error, OSError) or not error.strerror:
        return otherwise
    where = f"{error.filename}: " if error.filename else ""
    return f"{name} failed: {where}{error.strerror}."


def _only_once(tool: Tool[Any], carrier: str) -> None:
    if isinstance(tool, Carrying):
        raise ToolFailure(f"{carrier} carries no call of {tool.name}. Name the tool you want.")


class RawExecutor:
    """Finds a call's tool in the sources, in their order, and runs it."""

    def __init__(self, sources: Sequence[ToolSource], *, time_limit: float = TIME_LIMIT) -> None:
        self._sources = sources
        self._time_limit = time_limit
        self._imported: set[str] = set()
        self._few = asyncio.Semaphore(IMAGES)

    async def prepare(self, call: ToolCall, where: Where) -> Prepared:
        """Read the input and state the facts, each once; a carried call in place of its carrier."""
        try:
            tool, input = await self._read(call)
            if isinstance(tool, Carrying):
                call, carrier = tool.carried(call.id, input), call.name
                tool, input = await self._read(call)
                _only_once(tool, carrier)
            verb, target = tool.title(input, where)
            facts = Facts(
                access=tool.access(input, where),
                verb=verb,
                target=target,
                view=tuple(tool.view(input, None)),
                loop_key=tool.loop_key(input) if isinstance(tool, KeyedForLoops) else None,
                row=tool.row,
                looks=tool.looks if isinstance(tool, Looking) else "",
            )
            return Prepared(call=call, facts=facts, tool=tool, input=input)
        except ToolFailure as failure:
            return Prepared.unable(call, str(failure))
        except Exception as error:  # noqa: BLE001  the tool seam: a defect must not end the session
            _log.exception("preparing %s failed", call.name)
            text = f"{call.name} failed before it ran: an internal error. Try another way."
            return Prepared.unable(call, _defect(call.name, error, text))

    async def foresee(self, prepared: Prepared, ctx: ToolContext) -> Foreseen:
        """What the call would change in the files as they are now, or why it cannot succeed."""
        tool: object = prepared.tool
        name = prepared.call.name
        if not isinstance(tool, Foreseeing):
            return Foreseen()
        try:
            work = asyncio.to_thread(tool.foresee, prepared.input, ctx)
            return Foreseen(tuple(await asyncio.wait_for(work, FORESEEING)))
        except ToolFailure as failure:
            return Foreseen(failed=failure.result(ctx.where))
        except TimeoutError:
            text = f"{name}: the file could not be read within {FORESEEING:.0f} s."
            return Foreseen(failed=ToolResult.failed(f"{text} Nothing was changed."))
        except Exception as error:  # noqa: BLE001  the tool seam: a defect must not end the session
            _log.exception("foreseeing %s failed", name)
            text = f"{name} failed before it ran: an internal error."
            return Foreseen(failed=ToolResult.failed(_defect(name, error, text)))

    async def run(self, prepared: Prepared, ctx: ToolContext) -> ToolResult:
        from gatewright.tools.shell.output import capped  # noqa: PLC0415  lazy: with a call

        tool, input, name = prepared.tool, prepared.input, prepared.call.name
        if tool is None:
            return capped(ToolResult.failed(prepared.facts.error), ctx.spill, name)

        def finished(result: ToolResult) -> ToolResult:
            if not result.view:
                result = msgspec.structs.replace(result, view=tuple(tool.view(input, result)))
            return capped(result, ctx.spill, name)

        def leave(result: ToolResult) -> None:
            ctx.leave(finished(result))

        try:
            given = msgspec.structs.replace(ctx, leave=leave)
            limit = self._limit(tool, prepared.facts.access.effects)
            result = await self._run(tool, input, given, limit)
            return finished(await self._fitted(result, ctx) if result.parts else result)
        except ToolFailure as failure:
            return capped(failure.result(ctx.where), ctx.spill, name)
        except Exception as error:  # noqa: BLE001  the tool seam: a defect must not end the session
            _log.exception("%s failed", name)
            kind = type(error).__name__
            text = f"{name} failed: an internal error ({kind}: {error})."
            return ToolResult.failed(_defect(name, error, text))

    def _limit(self, tool: Tool[Any], effects: Effect) -> float | None:
        """What the tool states; else the usual, which people and other agents do not have."""
        if tool.time_limit is not None:
            return None if tool.time_limit == math.inf else tool.time_limit
        return None if effects & (Effect.HUMAN | Effect.AGENT) else self._time_limit

    async def _fitted(self, result: ToolResult, ctx: ToolContext) -> ToolResult:
        """Images and files as they came, made into what a model may get."""
        from gatewright.tools.documents.fitted import fitted  # noqa: PLC0415  lazy: only with images

        async with self._few:
            return await fitted(result, ctx.spawn, ctx.spill)

    async def _read(self, call: ToolCall) -> tuple[Tool[Any], Any]:
        tool = await self._find(call.name)
        return tool, tool.read(call.input)

    async def _find(self, name: str) -> Tool[Any]:
        for source in self._sources:
            if name in self._imported:
                tool = source.find(name)
            else:
                tool = await asyncio.to_thread(source.find, name)
            if tool is not None:
                self._imported.add(name)
                return tool
        offered = [spec.name for source in self._sources for spec in source.specs()]
        raise ToolFailure(f"There is no tool named {name}.{_meant(name, offered)}")

    async def _run(
        self, tool: Tool[Any], input: object, ctx: ToolContext, seconds: float | None
    ) -> ToolResult:
        stream = cast("AsyncGenerator[Progress | ToolResult, None]", tool.run(input, ctx))
        limit = asyncio.timeout(seconds)
        try:
            async with limit, aclosing(stream):
                async for item in stream:
                    if isinstance(item, ToolResult):
                        return item
                    ctx.progress(item)
        except TimeoutError:
            if limit.expired():
                raise ToolFailure(f"{tool.name} was stopped after {seconds:.0f} s.") from None
            raise
        raise ToolFailure(f"{tool.name} ended without a result.")


def _meant(name: str, offered: Sequence[str]) -> str:
    """The nearest name; of what has an owner (`owner__tool`) another one of the same owner."""
    owner = name.rpartition("__")[0]
    of_owner = [each for each in offered if each.rpartition("__")[0] == owner]
    if owner and not of_owner:
        return f" Nothing of {owner} is here now."
    folded = {known.casefold(): known for known in of_owner}
    near = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=0.6)
    if near:
        return f" Did you mean {folded[near[0]]}?"
    more = f" and {len(of_owner) - MOST_NAMED} more" if len(of_owner) > MOST_NAMED else ""
    return f" There are: {', '.join(of_owner[:MOST_NAMED])}{more}."
