"""Silence ends a stream, is told before, and anything that comes starts it anew."""

from __future__ import annotations

import asyncio

import pytest

from gatewright.agent.turn import watchdog
from gatewright.agent.turn.watchdog import Watchdog
from tests.fakes.waiting import lasting


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watchdog, "QUIET", 0.05)
    monkeypatch.setattr(watchdog, "EVERY", 0.02)


async def test_silence_is_told_then_ends() -> None:
    told: list[float] = []
    with pytest.raises(TimeoutError):
        async with Watchdog(0.15, 60, told.append):
            await asyncio.Event().wait()
    assert len(told) >= 2
    assert told == sorted(told)
    assert 0.05 <= told[0] < 0.15


async def test_what_is_fed_lives_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fed ten times as often as it must be: a busy machine may be late."""
    monkeypatch.setattr(watchdog, "QUIET", 0.25)
    told: list[float] = []
    async with Watchdog(0.5, 60, told.append) as dog:
        for _ in range(30):
            assert await lasting(lambda: told == [], 0.02)
            dog.fed(content=True)
    assert told == []


async def test_nothing_is_left_behind() -> None:
    told: list[float] = []
    async with Watchdog(10, 60, told.append):
        pass
    assert await lasting(lambda: told == [], 0.08)


async def test_signs_of_life_alone_end_too() -> None:
    dog = Watchdog(5, 0.15, lambda _: None)
    with pytest.raises(TimeoutError):
        async with dog:
            for _ in range(500):
                await lasting(lambda: True, 0.01)  # it may be starved before that reaches us
                dog.fed(content=False)
    assert dog.starved


async def test_a_little_content_now_and_then_lives_on() -> None:
    dog = Watchdog(5, 0.15, lambda _: None)
    async with dog:
        for number in range(30):
            assert await lasting(lambda: not dog.starved, 0.01)
            dog.fed(content=number % 5 == 0)
    assert not dog.starved


async def test_silence_is_not_taken_for_signs_of_life() -> None:
    dog = Watchdog(0.05, 0.06, lambda _: None)
    with pytest.raises(TimeoutError):
        async with dog:
            await asyncio.Event().wait()
    assert not dog.starved
