"""Dollars are said in one way, whatever says them."""

from __future__ import annotations

import pytest

from gatewright.agent.text.money import dollars


@pytest.mark.parametrize(
    ("amount", "told"),
    [
        (0.0, "$0.00"),
        (0.00001, "<$0.0001"),
        (0.0092, "$0.0092"),
        (0.075, "$0.0750"),
        (0.09999, "$0.10"),
        (0.123, "$0.12"),
        (1.84, "$1.84"),
        (20, "$20.00"),
        (1234.5, "$1,234.50"),
    ],
)
def test_cents_and_below_ten_of_them_their_parts(amount: float, told: str) -> None:
    assert dollars(amount) == told
