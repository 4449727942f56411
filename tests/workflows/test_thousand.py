"""Many agents of a whole session with a scripted model: values, order and sums; never too many."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gatewright.agent.errors import FailureKind, ProviderError
from gatewright.agent.extensions.workflows.run_extension import WorkflowRuns
from gatewright.agent.providers.protocol import (
    BlockEnded,
    Finished,
    MessageStarted,
    Piece,
    Request,
    StopReason,
    TextPiece,
    UsageReported,
)
from gatewright.agent.record.events import UserMessage, WorkflowEnded
from gatewright.agent.record.messages import Usage
from gatewright.tools.access import MAIN
from gatewright.tools.protocol import ToolCall
from tests.permissions.composed import Desk, desk

SCRIPT = """\
export const meta = {name: 'many', description: 'Many agents.'};
const items = Array.from({length: COUNT}, (_, n) => n);
const found = await parallel(items, n => agent(`task ${n}`));
let more = '';
try { await agent('one more') } catch (error) { more = error.message }
return {found, more};
"""


class Numbers:
    """A model that says the number it was sent; every tenth request fails, some are late."""

    name = "numbers"

    def __init__(self) -> None:
        self.live = self.most = self.asked = 0

    async def stream(self, request: Request) -> AsyncGenerator[Piece]:
        self.asked += 1
        self.live += 1
        self.most = max(self.most, self.live)
        try:
            number = int(re.findall(r"task (\d+)", str(request.turns))[-1])
            for _ in range(number % 7):
                await asyncio.sleep(0)
            if number % 10 == 0:
                raise ProviderError(FailureKind.REFUSED, f"No {number}.")
            yield MessageStarted(f"msg_{number}", "numbers")
            yield TextPiece(f"said {number}")
            yield BlockEnded()
            yield UsageReported(Usage(input=10, output=number))
            yield Finished(StopReason.END)
        finally:
            self.live -= 1

    async def close(self) -> None:
        """Nothing is held."""


def price(usage: Usage) -> float:
    return usage.output / 1000


async def played(opened: Desk, model: Numbers, count: int) -> tuple[WorkflowEnded, Any]:
    opened.session.submit("hi")
    await opened.session.idle()
    runs, main = opened.session.part(WorkflowRuns), opened.session.agent(MAIN)
    assert runs is not None
    assert main is not None
    assert main.models.current is not None
    open_model = msgspec.structs.replace(main.models.current, provider=model, price=price)
    runs.opened().models(lambda name, effort: open_model)
    script = SCRIPT.replace("COUNT", str(count))
    input = {"script": script, "budget": {"usd": 1_000_000}}
    result = await opened.session.call(ToolCall("w1", "Workflow", input))
    assert result.ok, result.content
    run = runs.opened().runs.runs[str(result.data["runId"])]
    await run.gone.wait()
    await opened.session.idle()
    return opened.seen.of(WorkflowEnded)[-1], json.loads(run.result)


@pytest.mark.parametrize("count", [60, pytest.param(1000, marks=pytest.mark.proof)])
async def test_values_order_and_sums_are_exact(tmp_path: Path, count: int) -> None:
    own = {"workflows": {"maxAgents": count, "maxConcurrent": 16}}
    async with desk(tmp_path, ["say: hi", *["say: ok"] * 4], interactive=False, own=own) as opened:
        model = Numbers()
        end, value = await played(opened, model, count)
        expected = [None if n % 10 == 0 else f"said {n}" for n in range(count)]
        assert value["found"] == expected
        assert value["more"] == f"A run makes {count:,} calls of agent() at most."
        assert (end.ok, end.failed) == (count * 9 // 10, count // 10 + 1)
        said = sum(n for n in range(count) if n % 10)
        assert end.usage == Usage(input=10 * end.ok, output=said)
        assert end.cost == pytest.approx(said / 1000)
        assert model.asked == count
        assert 1 < model.most <= 16
        hidden = [event for event in opened.seen.of(UserMessage) if event.hidden]
        assert len([event for event in hidden if "Workflow many" in str(event)]) == 1
        assert opened.session.spent.cost >= end.cost
