"""Runs the calls of one assistant message: reads and agents side by side, the rest one by one.

Every call ends with exactly one ToolFinished, in the order the model made them, also when the turn
is interrupted or a person refuses one of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from gatewright.agent.record.events import ToolFinished, ToolStarted, UserMessage
from gatewright.agent.record.messages import CallPart
from gatewright.agent.text.well_formed import formed
from gatewright.agent.turn.batch_ports import BatchPorts
from gatewright.agent.turn.loop_guard import Repeats
from gatewright.agent.turn.result_budget import ResultBudget
from gatewright.tools.access import MAIN, Effect
from gatewright.tools.calls import Prepared
from gatewright.tools.protocol import (
    NOT_BEGUN,
    NOT_RUN,
    TextContent,
    ToolCall,
    ToolContext,
    ToolResult,
)

if TYPE_CHECKING:
    from gatewright.tools.moments import Moments

SIDE_BY_SIDE = 8
PATHS = 5  # that are told of a call
SAME = TextContent("\nThis call was made just before, with exactly this result.")
UNREADABLE = "The arguments of this call were not a JSON object, so it was not run."
STOPPED_BESIDE = "Not run: a hook ended the turn."
DECLINED = "Not run: the person declined another call of this turn."


class Finished(msgspec.Struct, frozen=True):
    """`result` is the tool's own, without what the model is told about repeating itself."""

    call: ToolCall
    result: ToolResult
    loop_key: str | None = None


class _Ready(msgspec.Struct, frozen=True):
    """A call that was prepared, with the one context it has."""

    prepared: Prepared
    context: ToolContext
    malformed: str = ""

    @property
    def call(self) -> ToolCall:
        return self.prepared.call

    def concurrent(self) -> bool:
        facts = self.prepared.facts
        return not facts.error and facts.access.concurrent()


async def run_batch(
    parts: Sequence[CallPart], ports: BatchPorts, repeats: Repeats | None = None
) -> tuple[Finished, ...]:
    """The results in order. When one `ends_turn`, the calls behind it were not run; one that
    `waits` has no result yet."""
    batch = _Batch(ports, repeats or Repeats())
    try:
        await batch.run(parts)
    finally:
        # Also on cancellation: a call without a result would make the history invalid.
        batch.settle(parts)
    await batch.told()
    return tuple(batch.done.values())


async def _heard(call: ToolCall, ctx: ToolContext, result: ToolResult, ms: int) -> ToolResult:
    if ctx.moments is None:
        return result
    from gatewright.agent.turn.call_moments import ended  # noqa: PLC0415  lazy: somebody listens

    return await ended(call, ctx, result, ms)


def _few(group: Sequence[_Ready]) -> bool:
    """Whether one more may run beside these; agents have limits of their own."""
    agents = sum(Effect.AGENT in ready.prepared.facts.access.effects for ready in group)
    return len(group) - agents < SIDE_BY_SIDE


class _Batch:
    def __init__(self, ports: BatchPorts, repeats: Repeats) -> None:
        self._ports = ports
        self._repeats = repeats
        self._budget = ResultBudget()
        self._calls: dict[str, Prepared] = {}
        self._left: dict[str, ToolResult] = {}  # by calls that were interrupted
        self._began: dict[str, float] = {}
        self._moments: Moments | None = None
        self._agent = MAIN
        self.done: dict[str, Finished] = {}

    @property
    def declined(self) -> bool:
        return any(item.result.ends_turn for item in self.done.values())

    async def run(self, parts: Sequence[CallPart]) -> None:
        """Neighbours that only read, or start agents, form a group; anything else runs alone."""
        group: list[_Ready] = []
        for part in parts:
            ready = await self._prepare(part)
            if ready.concurrent() and _few(group):
                group.append(ready)
                continue
            await self._run_group(group)
            group = [ready]
            if not ready.concurrent():
                await self._run_group(group)
                group = []
            if self.declined:
                return
        await self._run_group(group)

    async def told(self) -> None:
        """Those who listen hear of all calls together, and may add to what the model knows."""
        if self._moments is None or not self.done:
            return
        if any(each.result.waits for each in self.done.values()):
            return
        from gatewright.agent.turn.call_moments import batch_ended  # noqa: PLC0415  lazy

        calls = [(each.call, each.result) for each in self.done.values()]
        besides, stopped = await batch_ended(self._moments, self._agent, calls)
        if besides:
            content = tuple(TextContent(text) for text in besides)
            self._ports.emit(UserMessage(content=content, hidden=True))
        if stopped and not self.declined:
            last = next(reversed(self.done.values()))
            result = msgspec.structs.replace(last.result, stopped=stopped, ends_turn=True)
            self.done[last.call.id] = msgspec.structs.replace(last, result=result)

    def settle(self, parts: Sequence[CallPart]) -> None:
        """Give every call that has no result yet one that says how far it came."""
        for part in parts:
            if part.id not in self.done:
                known = self._calls.get(part.id)
                call = known.call if known else ToolCall(part.id, part.name, part.input)
                self._report(call, *self._unfinished(part.id))

    def _unfinished(self, call_id: str) -> tuple[ToolResult, int]:
        """What is known of a call without a result, and how long the tool itself ran."""
        ms = self._ms(call_id)
        stopped = any(item.result.stopped for item in self.done.values())
        declined = STOPPED_BESIDE if stopped else DECLINED
        nothing = ToolResult.not_run(declined if self.declined else NOT_BEGUN)
        left = self._left.get(call_id, nothing)
        return left, 0 if left.summary == NOT_RUN else ms

    async def _prepare(self, part: CallPart) -> _Ready:
        call = ToolCall(part.id, part.name, part.input)
        context = self._ports.context(call.id)
        self._moments, self._agent = context.moments, context.agent
        if part.malformed:
            ready = _Ready(Prepared.unable(call, UNREADABLE), context, part.malformed)
        else:
            ready = _Ready(await self._ports.executor.prepare(call, context.where), context)
        self._calls[call.id] = ready.prepared
        return ready

    async def _run_group(self, group: Sequence[_Ready]) -> None:
        if len(group) == 1:
            self._report(group[0].call, *await self._run(group[0]))
            return
        tasks = [asyncio.create_task(self._run(ready)) for ready in group]
        try:
            for ready, task in zip(group, tasks, strict=True):
                self._report(ready.call, *await task)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            for ready, task in zip(group, tasks, strict=True):
                # Done, but behind the one that was cancelled: its result is real, keep it.
                finished = not task.cancelled() and task.exception() is None
                if finished and ready.call.id not in self.done:
                    self._report(ready.call, *task.result())

    async def _run(self, ready: _Ready) -> tuple[ToolResult, int]:
        call, facts, ports = ready.call, ready.prepared.facts, self._ports
        ports.emit(
            ToolStarted(
                call_id=call.id,
                name=call.name,
                input=call.input,
                verb=facts.verb,
                target=facts.target,
                view=facts.view,
                looks=facts.looks,
                does=facts.access.does(facts.looks),
                paths=tuple(map(str, (facts.access.writes or facts.access.reads)[:PATHS])),
            )
        )
        self._began[call.id] = ports.clock.monotonic()
        if ready.malformed:
            result = ToolResult.failed(
                f"{UNREADABLE} "
                f"They began with: {ready.malformed[:200]!r}. Send the call again as valid JSON.",
                summary="unreadable arguments",
            )
        else:
            leave = partial(self._left.__setitem__, call.id)
            leave(ToolResult.interrupted())
            ctx = msgspec.structs.replace(ready.context, leave=leave)
            result = await ports.executor.run(ready.prepared, ctx)
            ms, ran = self._ms(call.id), self._left[call.id].summary != NOT_RUN
            return (await _heard(call, ctx, result, ms) if ran else result), ms
        return result, self._ms(call.id)

    def _ms(self, call_id: str) -> int:
        """How long the call itself took; 0 for one that did not begin."""
        if (began := self._began.pop(call_id, None)) is None:
            return 0
        seconds = self._ports.clock.monotonic() - began - self._ports.waited(call_id)
        return round(seconds * 1000)

    def _report(self, call: ToolCall, result: ToolResult, ms: int) -> None:
        result = self._budget.fit(result)
        result = msgspec.structs.replace(result, content=formed(result.content))
        known = self._calls.get(call.id)
        key = known.facts.loop_key if known else None
        self.done[call.id] = Finished(call, result, key)
        if result.waits:
            return  # no result yet
        content = result.content
        if self._repeats.again(call, content, key=key):
            content = (*content, SAME)
        self._ports.emit(
            ToolFinished(
                call_id=call.id,
                ok=result.ok,
                content=content,
                view=result.view,
                data=result.data,
                summary=result.summary,
                ms=ms,
            )
        )
