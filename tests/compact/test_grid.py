"""The picture of the window adds up, whatever the model counted."""

from __future__ import annotations

import pytest

from gatewright.agent.compact.budget import Budget
from gatewright.agent.compact.grid import blocks, prompt_sections, window_use
from gatewright.agent.context.prompt.output_style import NO_STYLE, built_in
from gatewright.agent.context.prompt.system import PromptParts, system_prompt
from gatewright.agent.record.messages import AssistantTurn, ResultTurn, TextPart, UserTurn
from gatewright.tools.blocks import Shares, plain
from gatewright.tools.protocol import TextContent
from tests.compact.windowed import Windowed

TURNS = (
    UserTurn((TextContent("u" * 4_000),)),
    AssistantTurn((TextPart("a" * 8_000),)),
    ResultTurn("c", True, (TextContent("r" * 40_000),)),
)


@pytest.mark.parametrize("total", [0, 5, 13_000, 90_000, 300_000])
def test_it_adds_up(total: int) -> None:
    model = Windowed(100_000).open("m", "")
    usage = window_use(model, TURNS, total, Budget.of(100_000, 1_000))
    used = sum(share.tokens for share in usage.shares[:-2])
    assert abs(used - usage.total) <= len(usage.shares)
    (shown,) = (block for block in blocks(usage, "m") if isinstance(block, Shares))
    assert [part.amount for part in shown.parts] == [share.tokens for share in usage.shares]
    assert [part.name for part in shown.parts if part.spare] == ["Free", "Kept for the answer"]
    text = "\n".join(plain(block) for block in blocks(usage, "m"))
    assert "Tool results" in text
    assert f"({usage.total / 1000:.1f}%)" in text  # as the shares below it


def test_the_prompt_by_its_sections() -> None:
    own = ("# Environment\n\nx\n", "# Instructions from files\n\n## a\n\n# Not a section\n")
    found = prompt_sections(
        system_prompt(PromptParts(own=own, style=built_in("concise") or NO_STYLE))
    )
    assert [share.name for share in found] == [
        "Beginning", "How to work", "Care", "Tools", "How to answer",
        "Style: concise", "Environment", "Instructions from files",
    ]  # fmt: skip
    assert all(share.tokens > 0 for share in found)
