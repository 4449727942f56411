"""How long a call took is the time it ran: not its question's, nor that of those before it."""

from __future__ import annotations

import asyncio
from collections import Counter
from functools import partial
from pathlib import Path

import msgspec

from gatewright.agent.record.events import ToolFinished
from gatewright.agent.record.messages import CallPart
from gatewright.agent.turn.batch_ports import BatchPorts
from gatewright.agent.turn.tool_calls import run_batch
from gatewright.permissions.gated import GatePorts, gated
from gatewright.permissions.policy import Policy, PolicyConfig
from gatewright.tools.access import Effect
from gatewright.tools.interact import Answer, Ask
from gatewright.tools.protocol import ToolContext
from tests.fakes.clock import FakeClock
from tests.fakes.executor import context
from tests.fakes.toolbox import OneTool
from tests.fakes.waiting import PATIENCE, eventually
from tests.permissions.test_once import Counted


async def test_the_time_behind_other_questions_is_not_the_calls(tmp_path: Path) -> None:
    policy = Policy(PolicyConfig(root=tmp_path, cwd=tmp_path, home=tmp_path.parent, trusted=True))
    clock, stood, told = FakeClock(), Counter[str](), list[ToolFinished]()
    executor = gated(
        [OneTool(Counted(Effect.OPEN_WORLD))], policy, GatePorts(clock=clock.monotonic)
    )
    asked, answered = list[str](), asyncio.Event()

    async def ask(call_id: str, question: Ask) -> Answer:
        asked.append(question.title)
        began = clock.monotonic()
        await answered.wait()
        stood[call_id] += round(clock.monotonic() - began)
        return Answer.of("once")

    def waits(call_id: str, seconds: float) -> None:
        stood[call_id] += round(seconds)

    def made(call_id: str) -> ToolContext:
        return msgspec.structs.replace(
            context(tmp_path), ask=partial(ask, call_id), stood=partial(waits, call_id)
        )

    def ports() -> BatchPorts:
        return BatchPorts(
            executor=executor,
            context=made,
            emit=lambda event: told.append(event) if isinstance(event, ToolFinished) else None,
            clock=clock,
            waited=lambda call_id: stood[call_id],
        )

    agents = [
        asyncio.create_task(run_batch([CallPart(f"c{n}", "Counted", {"word": str(n)})], ports()))
        for n in (1, 2)
    ]
    await eventually(lambda: len(asked) == 1)
    await clock.advance(12)
    answered.set()
    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(*agents)
    assert len(asked) == 2
    assert [(each.call_id, each.ms) for each in told] == [("c1", 0), ("c2", 0)]
    assert stood == {"c1": 12, "c2": 12}
