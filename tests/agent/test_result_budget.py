"""Results of one message together stay within a cap; each keeps its beginning and its end."""

from __future__ import annotations

from gatewright.agent.compact.estimate import content_tokens
from gatewright.agent.record.events import ToolFinished, TurnEnded
from gatewright.agent.turn.result_budget import CHARACTERS, LEAST, ResultBudget
from gatewright.tools.protocol import ImageContent, TextContent, ToolResult
from tests.fakes.executor import FakeExecutor, text_of
from tests.fakes.house import house
from tests.fakes.recorder import Recorder


def test_what_fits_is_the_same_object() -> None:
    budget = ResultBudget(100)
    first = ToolResult.text("a" * 60)
    assert budget.fit(first) is first
    long = "b" * 4_000 + "end"
    cut = text_of(budget.fit(ToolResult.text(long)))
    assert cut.startswith("bbb")
    assert cut.endswith("end")
    assert "2,004 characters were left out" in cut
    assert len(cut) < LEAST + 300
    small = ToolResult.text("c" * LEAST)
    assert budget.fit(small) is small  # every call gets a little


def test_images_stay() -> None:
    image = ImageContent("image/png", "A")
    result = ToolResult(ok=True, content=(TextContent("x" * 9_000), image, TextContent("y" * 9)))
    content = ResultBudget(0).fit(result).content
    assert content[1] == image
    assert len(content) == 3


async def test_side_by_side() -> None:
    calls = "\n".join(f'call: Read {{"n": {number}}}' for number in range(20))
    executor = FakeExecutor({"Read": lambda call: ToolResult.text("r" * 30_000)})
    script = f"{calls}\n---\nsay: Done."
    async with house(script, executor=executor) as built, Recorder(built.session) as seen:
        built.session.submit("go")
        await seen.until(TurnEnded)
        tokens = sum(content_tokens(event.content) for event in seen.of(ToolFinished))
        assert tokens * 4 < CHARACTERS + 20 * (LEAST + 300)
