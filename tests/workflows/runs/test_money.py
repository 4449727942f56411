"""What a run may use: the least of all limits, told in time, counted with what works just now."""

from __future__ import annotations

import pytest

from gatewright.agent.record.messages import Usage
from gatewright.agent.workflows.runs.money import Allowed, Limit, Money, allowed


def money(allowed: Allowed, live: tuple[int, float] = (0, 0.0)) -> tuple[Money, list[str]]:
    told: list[str] = []
    return Money("play", allowed, lambda: live, told.append), told


@pytest.mark.parametrize(
    ("agents", "usage", "cost", "large"),
    [
        (24, Usage(), 0.0, False),
        (25, Usage(), 0.0, True),
        (1, Usage(input=1_500_000), 0.0, True),
        (1, Usage(), 5.0, True),
        (1, Usage(input=1_499_999), 4.99, False),
    ],
)
def test_what_is_large_is_told_once(agents: int, usage: Usage, cost: float, *, large: bool) -> None:
    made, told = money(Allowed())
    made.agents = agents
    made.paid(usage, cost)
    made.looked()
    made.looked()
    assert len(told) == large


def test_tokens_are_a_budget_too_and_live_ones_count() -> None:
    made, told = money(Allowed(tokens=100), live=(30, 0.0))
    made.paid(Usage(input=40, output=9), 0.0)
    assert not made.over()
    assert not told
    made.paid(Usage(output=1), 0.0)
    assert not made.over()
    assert told == ["The workflow play has used 80% of 100 tokens."]
    made.paid(Usage(cache_read=20), 0.0)
    assert made.over() == "The budget of the workflow play is spent: 100 tokens."
    now = made.now()
    assert (now.total_tokens, now.spent_tokens, now.total_usd) == (100, 100, None)
    assert len(told) == 2  # its end too


def test_no_budget_never_ends() -> None:
    made, told = money(Allowed())
    made.paid(Usage(input=10**9), 10.0**6)
    assert not made.over()
    assert not told


def test_the_end_of_a_budget_is_told_once_though_it_was_never_nearly_spent() -> None:
    """One dear agent: its script goes on with nulls, and somebody must know why."""
    made, told = money(Allowed(usd=0.5))
    made.paid(Usage(), 0.1)
    assert not made.over()
    made.paid(Usage(), 2.0)
    assert made.over() == made.over() == "The budget of the workflow play is spent: $0.50."
    assert told == ["The budget of the workflow play is spent: $0.50. No further agent begins."]


def test_the_end_of_a_budget_says_whose_it_was() -> None:
    found = allowed([Limit("of the start", 2.0, 500), Limit("by meta.budget", 0.5), Limit("x")], 9)
    assert (found.usd, found.tokens, found.agents) == (0.5, 500, 9)
    assert found.whose == "by meta.budget; of the start"
    made, _ = money(allowed([Limit("of the start", 2.0), Limit("by meta.budget", 0.5)], 9))
    made.paid(Usage(), 0.6)
    assert made.over() == "The budget of the workflow play is spent: $0.50, by meta.budget."
    assert allowed([Limit("x")], 9) == Allowed(agents=9)
