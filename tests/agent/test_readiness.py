"""What a first call takes is loaded while the model thinks, and not for an answer without one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from gatewright.agent.record.events import InputDelta, TurnEnded, TurnStarted
from gatewright.agent.session.start.readiness import Idle, Readiness
from gatewright.agent.turn.stop import Stop
from tests.fakes.waiting import PATIENCE

ALL = ("a", "b", "c")
NAMED = {"Look": ("b",)}
CALL = InputDelta(call_id="1", name="Look", json="{")


class Loaded:
    def __init__(self) -> None:
        self.modules: list[Sequence[str]] = []
        self.did = asyncio.Event()
        self._loop = asyncio.get_running_loop()

    def __call__(self, modules: Sequence[str]) -> None:
        self.modules.append(modules)
        self._loop.call_soon_threadsafe(self.did.set)


async def test_a_turn_that_lasts_loads_all_of_it_once() -> None:
    loaded = Loaded()
    ready = Readiness(loaded, ALL, after=0.0)
    ready.saw(TurnStarted(), NAMED)
    await asyncio.wait_for(loaded.did.wait(), PATIENCE)
    for event in (CALL, TurnEnded(stop=Stop.COMPLETED), TurnStarted(), CALL):
        ready.saw(event, NAMED)
    await ready.over()
    assert loaded.modules == [ALL]


async def test_an_answer_that_is_over_before_loads_nothing() -> None:
    loaded = Loaded()
    ready = Readiness(loaded, ALL, after=PATIENCE)
    ready.saw(TurnStarted(), NAMED)
    ready.saw(TurnEnded(stop=Stop.COMPLETED), NAMED)
    ready.saw(TurnStarted(), NAMED)
    await ready.over()
    assert loaded.modules == []


async def test_a_call_that_comes_first_loads_what_it_needs() -> None:
    loaded = Loaded()
    ready = Readiness(loaded, ALL, after=PATIENCE)
    ready.saw(TurnStarted(), NAMED)
    ready.saw(CALL, NAMED)
    await ready.over()
    assert loaded.modules == [("b",)]


async def test_a_first_request_is_prepared_while_nobody_asks() -> None:
    loaded = Loaded()
    idle = Idle(loaded, ALL, after=0.0)
    await asyncio.wait_for(loaded.did.wait(), PATIENCE)
    await idle.over()
    assert loaded.modules == [ALL]


async def test_a_session_that_ends_before_loads_nothing() -> None:
    loaded = Loaded()
    await Idle(loaded, ALL, after=PATIENCE).over()
    assert loaded.modules == []
