"""The thresholds are in order in every window, and guesses of size are sane."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gatewright.agent.compact.budget import Budget
from gatewright.agent.compact.estimate import content_tokens, json_tokens, text_tokens
from gatewright.tools.protocol import ImageContent, TextContent


@given(st.integers(2_000, 5_000_000), st.integers(100, 500_000))
def test_warning_before_auto_before_block(window: int, output: int) -> None:
    budget = Budget.of(window, output)
    assert 0 < budget.warning < budget.auto < budget.block < budget.effective < window
    kept = budget.summary + budget.words + budget.recent_most + budget.state
    assert kept < budget.auto
    assert budget.recent_least < budget.recent_most


def test_the_formula_of_ordinary_windows() -> None:
    budget = Budget.of(200_000, 64_000)
    assert (budget.effective, budget.auto, budget.warning, budget.block) == (
        180_000, 167_000, 147_000, 177_000,
    )  # fmt: skip
    assert Budget.of(100_000, 8_000).auto == 79_000
    assert (budget.words, budget.recent_least, budget.recent_most, budget.files) == (
        20_000, 10_000, 40_000, 5_000,
    )  # fmt: skip


def test_sizes() -> None:
    assert text_tokens("four letters each") == 5
    assert text_tokens("日本語テキスト") == 7
    assert text_tokens("Größe") == 2
    assert json_tokens({"a": [1, 2]}) == 6
    assert content_tokens((TextContent("x" * 40), ImageContent("image/png", "A" * 9999))) == 1610
