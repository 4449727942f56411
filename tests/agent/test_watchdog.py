"""Silence ends a stream, is told before, and anything that comes starts it anew."""

from __future__ import annotations

import asyncio

import pytest

from gatewright.agent import watchdog
from gatewright.agent.watchdog import Watchdog


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watchdog, "QUIET", 0.05)
    monkeypatch.setattr(watchdog, "EVERY", 0.02)


async def test_silence_is_told_then_ends() -> None:
    told: list[float] = []
    with pytest.raises(TimeoutError):
        async with Watchdog(0.15, told.append):
            await asyncio.sleep(5)
    assert len(told) >= 2
    assert told == sorted(told)
    assert 0.05 <= told[0] < 0.15


async def test_what_is_fed_lives_on() -> None:
    told: list[float] = []
    async with Watchdog(0.15, told.append) as dog:
        for _ in range(15):
            await asyncio.sleep(0.02)
            dog.fed()
    assert told == []


async def test_nothing_is_left_behind() -> None:
    told: list[float] = []
    async with Watchdog(10, told.append):
        pass
    await asyncio.sleep(0.08)
    assert told == []
