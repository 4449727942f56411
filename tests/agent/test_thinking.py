"""The next command is prepared while the model thinks or writes, and not while it is worked on."""

from __future__ import annotations

import asyncio
import math

from gatewright.agent.record.events import (
    AnyEvent,
    AssistantMessage,
    InputDelta,
    ToolFinished,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from gatewright.agent.session.start.thinking import Thinking
from gatewright.agent.turn.stop import Stop
from tests.fakes.waiting import PATIENCE, eventually, lasting

BEGUN = ToolStarted(call_id="1", name="Run", input={}, verb="", target="")
DONE = ToolFinished(call_id="1", ok=True, content=())
ANSWERED = AssistantMessage(id="m", model="m", parts=())
SHORT = 0.2  # longer than what it waits for


class Prepared:
    def __init__(self, *, after: float) -> None:
        self.count = 0
        self.did = asyncio.Event()
        self.thinking = Thinking(self._prepare, ("Run",), after=after)

    async def _prepare(self) -> None:
        self.count += 1
        self.did.set()

    def saw(self, *events: AnyEvent) -> None:
        for event in events:
            self.thinking.saw(event)

    async def again(self) -> None:
        await asyncio.wait_for(self.did.wait(), PATIENCE)
        self.did.clear()


def written(id: str, name: str = "Run") -> InputDelta:
    return InputDelta(call_id=id, name=name, json="{")


async def test_a_model_that_thinks_is_time_to_prepare() -> None:
    prepared = Prepared(after=0.0)
    prepared.saw(TurnStarted())
    await prepared.again()
    prepared.saw(ANSWERED, BEGUN, DONE)
    await prepared.again()
    await prepared.thinking.over()
    assert prepared.count == 2


async def test_an_answer_that_comes_at_once_prepares_nothing() -> None:
    prepared = Prepared(after=0.0)
    prepared.saw(TurnStarted(), ANSWERED, BEGUN, DONE, BEGUN, DONE, ANSWERED)
    prepared.saw(TurnEnded(stop=Stop.COMPLETED))
    assert await lasting(lambda: prepared.count == 0, SHORT)
    await prepared.thinking.over()


async def test_a_call_that_comes_with_all_of_its_answer_prepares_nothing() -> None:
    prepared = Prepared(after=0.0)
    prepared.saw(TurnStarted(), written("1"), ANSWERED, BEGUN)
    assert await lasting(lambda: prepared.count == 0, SHORT)
    await prepared.thinking.over()


async def test_the_first_time_takes_a_turn_that_lasts() -> None:
    prepared = Prepared(after=PATIENCE)
    prepared.saw(TurnStarted())
    assert await lasting(lambda: prepared.count == 0, SHORT)
    await prepared.thinking.over()
    assert prepared.count == 0


async def test_it_may_wait_for_a_call_however_long_the_model_thinks() -> None:
    prepared = Prepared(after=math.inf)
    prepared.saw(TurnStarted())
    assert await lasting(lambda: prepared.count == 0, SHORT)
    prepared.saw(written("1"))
    await prepared.again()
    await prepared.thinking.over()


async def test_after_a_first_call_it_is_always_worth_it() -> None:
    prepared = Prepared(after=PATIENCE)
    prepared.saw(TurnStarted(), ANSWERED, BEGUN, DONE)
    await prepared.again()
    await prepared.thinking.over()


async def test_a_call_that_is_being_written_is_worth_it_at_once() -> None:
    prepared = Prepared(after=PATIENCE)
    prepared.saw(TurnStarted(), written("0", "Look"), written("1"), written("1"))
    await prepared.again()
    prepared.saw(written("1"))
    await prepared.thinking.over()
    assert prepared.count == 1


async def test_one_is_prepared_at_a_time() -> None:
    held = asyncio.Event()
    begun: list[int] = []

    async def prepare() -> None:
        begun.append(1)
        await held.wait()

    thinking = Thinking(prepare, ("Run",), after=PATIENCE)
    for _ in range(2):
        for event in (TurnStarted(), written("1")):
            thinking.saw(event)
        await eventually(lambda: begun == [1])
    held.set()
    await thinking.over()
    assert len(begun) == 1
