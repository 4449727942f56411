"""How often a call is read, described and given a context: once, and again if rewritten."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from gatewright.agent.record.messages import CallPart
from gatewright.agent.turn.batch_ports import BatchPorts
from gatewright.agent.turn.tool_calls import run_batch
from gatewright.permissions.gated import GatePorts, gated
from gatewright.permissions.policy import Policy, PolicyConfig
from gatewright.tools.access import Access, Effect, Where
from gatewright.tools.interact import Answer, Ask
from gatewright.tools.plain import StructTool
from gatewright.tools.protocol import JsonObject, Progress, ToolContext, ToolResult
from tests.fakes.clock import FakeClock
from tests.fakes.executor import context
from tests.fakes.toolbox import OneTool
from tests.fakes.waiting import PATIENCE

PLAIN, ASKED, REWRITTEN = Effect.FREE, Effect.OPEN_WORLD, Effect.OPEN_WORLD


class Word(msgspec.Struct):
    word: str = "x"


class Counted(StructTool[Word]):
    name = "Counted"
    input = Word

    def __init__(self, effects: Effect) -> None:
        self.effects = effects
        self.counts = {"read": 0, "facts": 0, "ran": 0}
        self.said = ""

    def read(self, raw: JsonObject) -> Word:
        self.counts["read"] += 1
        return super().read(raw)

    def access(self, input: Word, where: Where) -> Access:
        self.counts["facts"] += 1
        return Access(effects=self.effects)

    async def run(self, input: Word, ctx: ToolContext) -> AsyncIterator[Progress | ToolResult]:
        self.counts["ran"] += 1
        self.said = input.word
        yield ToolResult.text(input.word)


@pytest.mark.parametrize(
    ("effects", "answer", "times"),
    [
        (PLAIN, None, 1),
        (ASKED, Answer.of("once"), 1),
        (REWRITTEN, Answer(("once",), input={"word": "other"}), 2),
    ],
)
async def test_a_call_is_read_and_described_once(
    tmp_path: Path, effects: Effect, answer: Answer | None, times: int
) -> None:
    tool = Counted(effects)
    policy = Policy(PolicyConfig(root=tmp_path, cwd=tmp_path, home=tmp_path.parent))
    executor = gated([OneTool(tool)], policy, GatePorts())
    contexts: list[str] = []

    async def ask(asked: Ask) -> Answer:
        assert answer is not None
        return answer

    def made(call_id: str) -> ToolContext:
        contexts.append(call_id)
        return msgspec.structs.replace(context(tmp_path), ask=ask)

    ports = BatchPorts(
        executor=executor,
        context=made,
        emit=lambda event: None,
        clock=FakeClock(),
        waited=lambda call_id: 0.0,
    )
    (done,) = await asyncio.wait_for(run_batch([CallPart("c1", "Counted", {})], ports), PATIENCE)
    assert done.result.ok
    assert tool.counts == {"read": times, "facts": times, "ran": 1}
    assert contexts == ["c1"]
    assert tool.said == ("other" if times == 2 else "x")
