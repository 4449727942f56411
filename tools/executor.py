"""Runs tools without any policy: validate, run, limit, normalise.

Only the permission gate may hold one. No method raises anything but CancelledError.
"""

from __future__ import annotations

import asyncio
import difflib
import logging
from collections.abc import Sequence
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, Any, cast

import msgspec

from gatewright.tools.abilities import Foreseeing, KeyedForLoops
from gatewright.tools.access import Effect, Where
from gatewright.tools.protocol import (
    INVALID,
    Facts,
    Foreseen,
    Progress,
    Tool,
    ToolCall,
    ToolContext,
    ToolFailure,
    ToolResult,
    ToolSource,
)
from gatewright.tools.shell.output import capped

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from pydantic import BaseModel

_log = logging.getLogger("gatewright.tools")

TIME_LIMIT = 900.0  # above every limit a tool sets itself; people and agents may take longer

FORESEEING = 10.0  # a dead network mount must not keep a turn for ever


class InputError(Exception):
    """The call cannot be run; its text is for the model."""


def _failed(failure: InputError | ToolFailure) -> ToolResult:
    if isinstance(failure, ToolFailure):
        return failure.result()
    return ToolResult.failed(str(failure))


def _defect(name: str, error: Exception, otherwise: str) -> str:
    """What the system did not let a tool do, such as a closed directory; `otherwise` a defect."""
    if not isinstance(error, OSError) or not error.strerror:
        return otherwise
    where = f"{error.filename}: " if error.filename else ""
    return f"{name} failed: {where}{error.strerror}."


class RawExecutor:
    """Finds a call's tool in the sources, in their order, and runs it."""

    def __init__(self, sources: Sequence[ToolSource], *, time_limit: float = TIME_LIMIT) -> None:
        self._sources = sources
        self._time_limit = time_limit
        self._imported: set[str] = set()

    async def facts(self, call: ToolCall, where: Where) -> Facts:
        try:
            tool, input = await self._prepare(call)
            verb, target = tool.title(input, where)
            return Facts(
                access=tool.access(input, where),
                verb=verb,
                target=target,
                view=tuple(tool.view(input, None)),
                loop_key=tool.loop_key(input) if isinstance(tool, KeyedForLoops) else None,
            )
        except InputError as error:
            return Facts(access=INVALID, verb=call.name, target="", error=str(error))
        except ToolFailure as failure:
            return Facts(access=INVALID, verb=call.name, target="", error=str(failure))
        except Exception as error:  # noqa: BLE001  the tool seam: a defect must not end the session
            _log.exception("facts of %s failed", call.name)
            text = f"{call.name} failed before it ran: an internal error. Try another way."
            text = _defect(call.name, error, text)
            return Facts(access=INVALID, verb=call.name, target="", error=text)

    async def foreseen(self, call: ToolCall, ctx: ToolContext) -> Foreseen:
        """What the call would change in the files as they are now, or why it cannot succeed."""
        try:
            tool, input = await self._prepare(call)
            if not isinstance(tool, Foreseeing):
                return Foreseen()
            work = asyncio.to_thread(tool.foresee, input, ctx)
            return Foreseen(tuple(await asyncio.wait_for(work, FORESEEING)))
        except (InputError, ToolFailure) as failure:
            return Foreseen(failed=_failed(failure))
        except TimeoutError:
            text = f"{call.name}: the file could not be read within {FORESEEING:.0f} s."
            return Foreseen(failed=ToolResult.failed(f"{text} Nothing was changed."))
        except Exception as error:  # noqa: BLE001  the tool seam: a defect must not end the session
            _log.exception("foreseeing %s failed", call.name)
            text = f"{call.name} failed before it ran: an internal error."
            return Foreseen(failed=ToolResult.failed(_defect(call.name, error, text)))

    async def execute(self, call: ToolCall, ctx: ToolContext) -> ToolResult:
        try:
            tool, input = await self._prepare(call)
            access = tool.access(input, ctx.where)
            unlimited = bool(access.effects & (Effect.HUMAN | Effect.AGENT))

            def finished(result: ToolResult) -> ToolResult:
                if not result.view:
                    result = msgspec.structs.replace(result, view=tuple(tool.view(input, result)))
                return capped(result, ctx.spill, call.name)

            def leave(result: ToolResult) -> None:
                ctx.leave(finished(result))

            given = msgspec.structs.replace(ctx, leave=leave)
            limit = None if unlimited else self._time_limit
            return finished(await self._run(tool, input, given, limit))
        except (InputError, ToolFailure) as failure:
            return capped(_failed(failure), ctx.spill, call.name)
        except Exception as error:  # noqa: BLE001  the tool seam: a defect must not end the session
            _log.exception("%s failed", call.name)
            kind = type(error).__name__
            text = f"{call.name} failed: an internal error ({kind}: {error})."
            return ToolResult.failed(_defect(call.name, error, text))

    async def _prepare(self, call: ToolCall) -> tuple[Tool[Any], BaseModel]:
        tool = await self._find(call.name)
        from pydantic import ValidationError  # noqa: PLC0415  lazy: 29 ms, paid by the tool's module

        try:
            return tool, cast("BaseModel", tool.input.model_validate(call.input))
        except ValidationError as error:
            from gatewright.tools import schema  # noqa: PLC0415  lazy: only for wrong input

            wrong = InputError(schema.explain(error, call.name))
            fixed = schema.unquoted(call.input, error)
        if fixed is not None:
            with suppress(ValidationError):
                return tool, cast("BaseModel", tool.input.model_validate(fixed))
        raise wrong

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
        folded = {known.casefold(): known for known in offered}
        near = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=0.6)
        hint = f" Did you mean {folded[near[0]]}?" if near else f" There are: {', '.join(offered)}."
        raise InputError(f"There is no tool named {name}.{hint}")

    async def _run(
        self, tool: Tool[Any], input: BaseModel, ctx: ToolContext, seconds: float | None
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
