"""Agent (also Task): hand a task to another agent, and wait for its report or go on without it."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Protocol

import msgspec

from gatewright.agent.agents.crew import NOTED, REFUSED, SAME, Crew
from gatewright.agent.agents.kind import DEFAULT_KIND, WORKTREE, AgentKind
from gatewright.agent.agents.life import Life, Order
from gatewright.agent.agents.results import launched, left, result
from gatewright.agent.agents.roster import NAME
from gatewright.agent.commands.outcome import Scope
from gatewright.tools.access import Access, Effect, Where
from gatewright.tools.blocks import Block, Markdown, Text
from gatewright.tools.plain import StructTool
from gatewright.tools.protocol import (
    JsonObject,
    Progress,
    Run,
    TextContent,
    ToolCall,
    ToolContext,
    ToolFailure,
    ToolResult,
)

HINTED = 15.0  # seconds until the person is told that they need not wait
AGAIN = (
    "\n[{count} agents had this same prompt within a minute. Do not start it again: use what they "
    "report, or ask for something else.]"
)


class Asked(msgspec.Struct, frozen=True):
    description: str
    prompt: str
    subagent_type: str = ""
    model: str = ""
    run_in_background: bool = False
    name: str = ""
    isolation: str = ""
    mode: str = ""
    team_name: str = ""  # accepted, and without meaning


class Carried(msgspec.Struct, frozen=True):
    input: JsonObject


class Starting(Protocol):
    """What the session knows of starting agents."""

    def kind(self, name: str, owner: str) -> AgentKind:
        """Raises ToolFailure that names those there are."""
        ...

    async def ready(self, kind: AgentKind, owner: str) -> None:
        """Whatever keeps it from being started, before anything is. Raises ToolFailure."""
        ...

    def model(self, kind: AgentKind, asked: str, owner: str) -> str: ...
    def mode(self, asked: str) -> str:
        """Its name as we write it. Raises ToolFailure."""
        ...

    @property
    def delegating(self) -> bool:
        """Whether the main agent only coordinates: it waits for nobody."""
        ...

    @property
    def moves_after(self) -> float:
        """Seconds after which an agent goes on in the background by itself; 0: never."""
        ...


class AgentTool(StructTool[Asked]):
    name, input, effects = "Agent", Asked, Effect.AGENT
    time_limit = math.inf

    def __init__(self, crew: Crew, starting: Starting) -> None:
        self._crew, self._starting = crew, starting

    def read(self, raw: JsonObject) -> Asked:
        """Null is nothing said."""
        return super().read({key: value for key, value in raw.items() if value is not None})

    def access(self, input: Asked, where: Where) -> Access:
        del where
        return Access(effects=Effect.AGENT, subject=input.subagent_type or DEFAULT_KIND)

    def title(self, input: Asked, where: Where) -> tuple[str, str]:
        del where
        return input.subagent_type or DEFAULT_KIND, input.description

    def view(self, input: Asked, result: ToolResult | None) -> Sequence[Block]:
        if result is None:
            return (Markdown(input.prompt),)
        said = "\n".join(part.text for part in result.content if isinstance(part, TextContent))
        return (Text(said, "dim"),)

    async def run(self, input: Asked, ctx: ToolContext) -> Run:
        async with aclosing(self.handed_over(input, ctx)) as items:
            async for item in items:
                yield item

    async def handed_over(
        self, input: Asked, ctx: ToolContext, *, effort: str = "", scope: Scope | None = None
    ) -> AsyncGenerator[Progress | ToolResult, None]:
        """What the call comes to; with what a skill brings besides."""
        order = await self._order(input, ctx)
        order = msgspec.structs.replace(order, effort=effort, scope=scope)
        count = self._crew.seen_before(ctx.agent, input.prompt)
        if count >= REFUSED:
            raise ToolFailure(
                f"{count} agents within {SAME:.0f} s would have this same prompt: not started. Use "
                "what they report, or ask for something else."
            )
        note = AGAIN.format(count=count) if count >= NOTED else ""
        life = self._crew.start(order, attended=not order.background)
        if order.background:
            yield _noted(launched(life, life.report_file), note)
            return
        async with aclosing(self._attended(life, ctx)) as items:
            async for item in items:
                yield _noted(item, note) if isinstance(item, ToolResult) else item

    async def _attended(
        self, life: Life, ctx: ToolContext
    ) -> AsyncGenerator[Progress | ToolResult, None]:
        """Its end, or that it goes on in the background; if the turn ends, it ends too."""
        owned = True
        try:
            async for progress in self._watched(life, ctx):
                yield progress
            owned = False
            if life.running and not life.stopping:
                self._crew.release(life)
                yield launched(life, life.report_file, moved=True)
                return
            await life.ended.wait()
            self._crew.left_alone(life)
            yield result(life)
        except asyncio.CancelledError:
            if owned:
                await self._abandoned(life)
                ended = life.end is not None and life.end.status == "completed"
                ctx.leave(result(life) if ended else left(life))
            raise
        finally:
            if owned:
                self._crew.stop(life, "turn")

    async def _abandoned(self, life: Life) -> None:
        self._crew.stop(life, "turn")
        self._crew.left_alone(life)
        await asyncio.wait({asyncio.ensure_future(life.gone.wait())}, timeout=5.0)

    async def _watched(self, life: Life, ctx: ToolContext) -> AsyncGenerator[Progress, None]:
        """Until it ended, or the person does not want to wait any more."""
        jobs, moves = ctx.jobs, self._starting.moves_after
        if jobs is None:
            await life.ended.wait()
            return
        with jobs.foreground() as leave:
            waits = {asyncio.ensure_future(life.ended.wait()), asyncio.ensure_future(leave.wait())}
            try:
                limit = min(HINTED, moves) if moves else HINTED
                done, _ = await asyncio.wait(
                    waits, timeout=limit, return_when=asyncio.FIRST_COMPLETED
                )
                if done or (moves and moves <= HINTED):
                    return
                now = life.progress()
                yield msgspec.structs.replace(now, movable=True)
                rest = moves - HINTED if moves else None
                await asyncio.wait(waits, timeout=rest, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for each in waits:
                    each.cancel()
                await asyncio.gather(*waits, return_exceptions=True)

    async def _order(self, input: Asked, ctx: ToolContext) -> Order:
        """All that can be wrong is found here, before anything starts."""
        crew, starting, owner = self._crew, self._starting, ctx.agent
        if not input.prompt.strip():
            raise ToolFailure("The prompt is empty: say what the agent is to do.")
        depth = owner.count("/") + 1
        if depth > (deepest := crew.limits.depth):
            raise ToolFailure(
                f"Agents may start agents {deepest} deep (agents.maxDepth), and this is {depth}: "
                "do the task yourself."
            )
        kind = starting.kind(input.subagent_type or DEFAULT_KIND, owner)
        if input.name and not NAME.fullmatch(input.name):
            raise ToolFailure("A name is 1 to 40 of a-z, 0-9 and hyphens, such as reviewer-2.")
        if input.name == "main" or (input.name and crew.living(input.name) is not None):
            raise ToolFailure(f"There is a {input.name} already: choose another name.")
        if input.isolation not in ("", WORKTREE):
            raise ToolFailure(f"There is one isolation, {WORKTREE}.")
        mode = starting.mode(input.mode)
        await starting.ready(kind, owner)
        if input.name and crew.living(input.name) is not None:
            raise ToolFailure(f"There is a {input.name} already: choose another name.")
        background = input.run_in_background or kind.background
        background = background or (starting.delegating and depth == 1)
        return Order(
            id=crew.new_id(),
            owner=owner,
            parent=owner,
            kind=kind,
            prompt=input.prompt,
            where=ctx.where,
            description=input.description,
            name=input.name,
            call_id=ctx.call_id,
            model=starting.model(kind, input.model, owner),
            mode=mode,
            background=background and ctx.jobs is not None,
            isolation=input.isolation or kind.isolation,
        )


def _noted(result: ToolResult, note: str) -> ToolResult:
    if not note:
        return result
    return msgspec.structs.replace(result, content=(*result.content, TextContent(note)))


class TaskTool(StructTool[Carried]):
    """The older name: it carries the call of Agent."""

    name, input = "Task", Carried

    def read(self, raw: JsonObject) -> Carried:
        return Carried(raw)

    def carried(self, id: str, input: Carried) -> ToolCall:
        return ToolCall(id, "Agent", input.input)

    async def run(self, input: Carried, ctx: ToolContext) -> Run:
        del input, ctx
        yield ToolResult.failed("Task only carries the call of Agent.")
