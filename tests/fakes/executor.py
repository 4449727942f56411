"""An executor for tests of the loop: what each tool answers is written down beforehand."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path

from gatewright.tools.access import Access, Effect, Where
from gatewright.tools.calls import Facts, Prepared
from gatewright.tools.interact import Answer, Ask
from gatewright.tools.protocol import (
    Child,
    Executor,
    Progress,
    SpawnRequest,
    TextContent,
    ToolCall,
    ToolContext,
    ToolResult,
)
from tests.fakes.waiting import PATIENCE

READ = Access(effects=Effect.READ_ONLY)
CHANGE = Access(effects=Effect.DESTRUCTIVE)
Handler = Callable[[ToolCall], ToolResult]


def echo(call: ToolCall) -> ToolResult:
    return ToolResult.text(f"{call.name} {sorted(call.input.items())}")


class FakeExecutor:
    """Names that begin with "read" may run side by side; `gates` hold a call until released."""

    def __init__(self, handlers: Mapping[str, Handler] | None = None) -> None:
        self.handlers = dict(handlers or {})
        self.gates: dict[str, asyncio.Event] = {}
        self.loop_keys: dict[str, str] = {}
        self.started: list[str] = []
        self.running = 0
        self.most_running = 0

    def hold(self, name: str) -> asyncio.Event:
        return self.gates.setdefault(name, asyncio.Event())

    async def prepare(self, call: ToolCall, where: Where) -> Prepared:
        access = READ if call.name.lower().startswith("read") else CHANGE
        key = self.loop_keys.get(call.name)
        facts = Facts(access=access, verb=call.name, target="", loop_key=key)
        return Prepared(call=call, facts=facts)

    async def run(self, prepared: Prepared, ctx: ToolContext) -> ToolResult:
        return await self.act(prepared.call, ctx)

    async def act(self, call: ToolCall, ctx: ToolContext) -> ToolResult:
        self.started.append(call.id)
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        try:
            await asyncio.sleep(0)
            if gate := self.gates.get(call.name):
                async with asyncio.timeout(PATIENCE):
                    await gate.wait()
            return self.handlers.get(call.name, echo)(call)
        finally:
            self.running -= 1


class NoLedger:
    def forget_shown(self) -> None:
        pass

    def note(self, path: Path, content: bytes) -> None: ...
    def stale(self, path: Path, content: bytes) -> str:
        return ""

    def shown(self, path: Path, content: bytes, part: str) -> bool:
        return False


async def no_spawn(request: SpawnRequest) -> Child:
    raise AssertionError(f"nothing may be started here: {request.argv}")


async def no_ask(ask: Ask) -> Answer:
    raise AssertionError(f"nothing may be asked here: {ask.title}")


def no_progress(progress: Progress) -> None:
    """Progress is of no interest to this test."""


def no_move(path: Path) -> None:
    """The working directory is of no interest to this test."""


def context(root: Path = Path("/project")) -> ToolContext:
    return ToolContext(
        where=Where(root, root, Path("/home/somebody")),
        ledger=NoLedger(),
        spawn=no_spawn,
        ask=no_ask,
        progress=no_progress,
        move=no_move,
        env={},
        spill=root / "spill",
    )


def text_of(result: ToolResult) -> str:
    return "\n".join(part.text for part in result.content if isinstance(part, TextContent))


async def executed(executor: Executor, call: ToolCall, ctx: ToolContext) -> ToolResult:
    """What the loop does with a call."""
    return await executor.run(await executor.prepare(call, ctx.where), ctx)
