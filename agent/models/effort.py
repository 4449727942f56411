"""How much a model may think, in tokens, for each effort that is measured in tokens."""

from __future__ import annotations

from collections.abc import Mapping

BUDGETS: Mapping[str, int] = {
    "low": 2_048, "medium": 8_192, "high": 16_384, "xhigh": 24_576, "max": 31_999,
}  # fmt: skip


def effort_within(tokens: int) -> str:
    """The highest effort that thinks for no more than so many tokens."""
    fitting = [name for name, budget in BUDGETS.items() if budget <= tokens]
    return fitting[-1] if fitting else "none"
