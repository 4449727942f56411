"""Where asyncio's way of trying two addresses at once is broken, it is not used."""

from __future__ import annotations

import pytest

from gatewright.agent.providers.transport.connection import happy_eyeballs


@pytest.mark.parametrize(
    ("version", "used"),
    [
        ((3, 11, 7), True),
        ((3, 12, 1), False),
        ((3, 12, 7), False),
        ((3, 12, 8), True),
        ((3, 13, 0), False),
        ((3, 13, 1), True),
        ((3, 14, 0), True),
    ],
)
def test_happy_eyeballs(version: tuple[int, int, int], used: bool) -> None:
    assert (happy_eyeballs(version) is not None) is used
