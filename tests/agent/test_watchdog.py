"""Silence ends a stream, is told before, and anything that comes starts it anew."""

from __future__ import annotations

import pytest

from gatewright.agent.turn.watchdog import Watchdog
from tests.fakes.clock import LoopTime

LONG = 600


async def test_silence_is_told_then_ends() -> None:
    time, told = LoopTime(), list[float]()
    with pytest.raises(TimeoutError):
        async with Watchdog(22.5, LONG, told.append):
            await time.passes(22)
            assert told == [20, 21, 22]
            await time.passes(1)
    assert told == [20, 21, 22]


async def test_what_is_fed_lives_on() -> None:
    time, told = LoopTime(), list[float]()
    async with Watchdog(30, LONG, told.append) as dog:
        for _ in range(30):
            await time.passes(19)
            dog.fed(content=True)
    assert told == []


async def test_nothing_is_left_behind() -> None:
    time, told = LoopTime(), list[float]()
    async with Watchdog(100, LONG, told.append):
        pass
    await time.passes(200)
    assert told == []


async def test_signs_of_life_alone_end_too() -> None:
    time, lived = LoopTime(), 0
    dog = Watchdog(300, 90, lambda _: None)
    with pytest.raises(TimeoutError):
        async with dog:
            while lived < 100:
                await time.passes(1)
                dog.fed(content=False)
                lived += 1
    assert dog.starved and 85 < lived < 95


async def test_a_little_content_now_and_then_lives_on() -> None:
    time = LoopTime()
    dog = Watchdog(300, 90, lambda _: None)
    async with dog:
        for number in range(30):
            await time.passes(15)
            assert not dog.starved
            dog.fed(content=number % 5 == 0)
    assert not dog.starved


async def test_silence_is_not_taken_for_signs_of_life() -> None:
    time = LoopTime()
    dog = Watchdog(50, 60, lambda _: None)
    with pytest.raises(TimeoutError):
        async with dog:
            await time.passes(100)
    assert not dog.starved
