"""One queue for a server: who is next, how many run, and what a refusal changes."""

from __future__ import annotations

import asyncio
import random

import pytest

from gatewright.agent.errors import FailureKind, ModelLoading, ProviderError
from gatewright.agent.providers import limiter as limits
from gatewright.agent.providers.limiter import AT_ONCE, CALM, RESETS, Limiter, Place
from gatewright.agent.providers.protocol import Queued
from gatewright.tools.access import MAIN
from tests.fakes.waiting import PATIENCE, eventually


def refused(after: float | None = None, kind: FailureKind = FailureKind.RATE) -> ProviderError:
    return ProviderError(kind, "Busy.", retry_after=after)


class Line:
    """Agents before one limiter; those whose turn it was, in order."""

    def __init__(self, most: int = 1, **ranks: int) -> None:
        self.now = 0.0
        self.limiter = Limiter(
            most, rank=lambda agent: ranks.get(agent, 0), clock=self._clock, dice=lambda: 0.5
        )
        self.began: list[str] = []
        self.places: dict[str, Place] = {}
        self.tasks: dict[str, asyncio.Task[None]] = {}
        self.seen: list[Queued] = []

    def _clock(self) -> float:
        return self.now

    async def comes(self, *agents: str, model: str = "m") -> None:
        for agent in agents:
            self.tasks[agent] = asyncio.create_task(self._waits(agent, model))
            await asyncio.sleep(0)

    async def _waits(self, agent: str, model: str) -> None:
        place = self.limiter.place(agent, model)
        async for queued in place.turn():
            self.seen.append(queued)
        self.places[agent] = place
        self.began.append(agent)

    async def goes(self, agent: str, failure: ProviderError | None = None) -> None:
        self.places.pop(agent).left(failure)
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    async def later(self, seconds: float) -> None:
        """The time of pauses passes; whoever may begin does."""
        self.now += seconds
        self.limiter.look()
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    async def close(self) -> None:
        for task in self.tasks.values():
            task.cancel()
        await asyncio.gather(*self.tasks.values(), return_exceptions=True)


async def test_so_many_at_once_then_first_come_first_served() -> None:
    line = Line(2)
    await line.comes("a", "b", "c", "d")
    assert line.began == ["a", "b"]
    await line.goes("b")
    await line.goes("a")
    assert line.began == ["a", "b", "c", "d"]


async def test_the_main_agent_comes_before_all_others() -> None:
    line = Line()
    await line.comes("a", "b", MAIN, "c")
    for agent in ("a", MAIN, "b"):
        await line.goes(agent)
    assert line.began == ["a", MAIN, "b", "c"]


async def test_of_agents_that_wait_the_one_that_was_started_first_is_next() -> None:
    line = Line(first=1, second=2, third=3)
    await line.comes("second", "third", "first")
    await line.goes("second")
    await line.goes("first")
    assert line.began == ["second", "first", "third"]


async def test_agents_take_turns_however_much_one_asks() -> None:
    line = Line()
    await line.comes("a", "greedy", "greedy", "greedy", "b")
    for _ in range(4):
        await line.goes(line.began[-1])
    assert line.began == ["a", "greedy", "b", "greedy", "greedy"]


@pytest.mark.parametrize(
    ("kind", "seconds"), [(FailureKind.RATE, 1.0), (FailureKind.OVERLOADED, 0.2)]
)
async def test_a_refusal_halves_and_keeps_the_place(kind: FailureKind, seconds: float) -> None:
    line = Line(4)
    agents = ["a", "b", "c", "d"]
    await line.comes(*agents, "e")
    failure = refused(kind=kind)
    await line.goes("b", failure)
    assert failure.waits == pytest.approx(seconds)
    late = refused(kind=kind)
    await line.goes("c", late)
    assert late.waits == pytest.approx(seconds), (
        "it began before: no second halving, no longer pause"
    )
    await line.comes("c", "b")
    await line.goes("a")
    await line.later(0.9 * seconds)
    assert line.began == agents
    await line.later(0.2 * seconds)
    assert line.began == [*agents, "b"], "two may run; b stood before c, and both before e"
    await line.goes("d")
    await line.goes("b")
    assert line.began[5:] == ["c", "e"]


async def test_one_more_after_calm_seconds() -> None:
    line = Line(8)
    await line.comes("a")
    await line.goes("a", refused())
    await line.later(2)
    for number in range(3):
        await line.comes(f"b{number}")
    await line.later(CALM)
    await line.goes("b0")
    await line.goes("b1")
    await line.comes(*(f"c{number}" for number in range(9)))
    running = len(line.places)
    await line.close()
    assert running == 5, "half of eight, and one"


async def test_what_the_server_asks_for_holds_all_back() -> None:
    line = Line(4)
    await line.comes("a", "b")
    failure = refused(20)
    await line.goes("a", failure)
    await line.comes("c", "a", MAIN)
    assert failure.waits == pytest.approx(21), "a little more: others have the same key"
    await line.goes("b")
    await line.later(20)
    assert line.began == ["a", "b"]
    await line.later(2)
    assert line.began == ["a", "b", MAIN, "a"], "two at once now, and c came later"
    await line.close()


async def test_pauses_grow_until_something_goes_well() -> None:
    line = Line(16)
    waits: list[float | None] = []
    for well in (False, False, False, True, False):
        await line.comes("a")
        failure = None if well else refused()
        await line.goes("a", failure)
        if failure is not None:
            waits.append(failure.waits)
            await line.later(100)
    assert waits == [pytest.approx(seconds) for seconds in (1, 2, 4, 1)]


async def test_an_overloaded_model_does_not_hold_back_another() -> None:
    line = Line(4)
    await line.comes("a")
    await line.goes("a", refused(kind=FailureKind.OVERLOADED))
    await line.comes("a")
    await line.comes("b", model="stand-in")
    assert line.began == ["a", "b"]
    await line.close()


async def test_what_is_no_refusal_changes_nothing() -> None:
    line = Line(2)
    for failure in (
        ProviderError(FailureKind.TRANSPORT, "cut"),
        ModelLoading(FailureKind.OVERLOADED, "loading", status=503),
    ):
        await line.comes("a")
        await line.goes("a", failure)
        assert failure.waits is None
    await line.comes("a", "b")
    assert line.began == ["a", "a", "a", "b"]


async def test_nobody_waits_for_what_is_too_far_away() -> None:
    line = Line(2)
    await line.comes("a")
    failure = refused(RESETS + 1)
    await line.goes("a", failure)
    await line.comes("b")
    assert (failure.waits, line.began) == (None, ["a", "b"])


async def test_who_gives_up_leaves_the_queue() -> None:
    line = Line()
    await line.comes("a", "b", "c")
    line.tasks["b"].cancel()
    await asyncio.sleep(0)
    await line.goes("a")
    assert line.began == ["a", "c"]


async def test_cancelled_just_as_its_turn_came() -> None:
    line = Line()
    await line.comes("a", "b", "c")
    line.places.pop("a").left(None)  # b may begin, and has not looked yet
    line.tasks["b"].cancel()
    await eventually(lambda: line.began == ["a", "c"])


async def test_who_waits_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "SOON", 0.01)
    monkeypatch.setattr(limits, "STILL_THERE", 0.01)
    line = Line()
    await line.comes("a", "b", "c")
    await eventually(lambda: Queued(0.0, 1) in line.seen)
    await line.goes("a", refused(30))
    await eventually(lambda: Queued(31.5, 0) in line.seen)
    await line.close()


async def test_the_pause_ends_by_itself() -> None:
    limiter = Limiter(AT_ONCE, dice=lambda: 0.0)
    first = limiter.place("a", "m")
    assert [queued async for queued in first.turn()] == []
    first.left(refused(0.02))
    again = limiter.place("a", "m")
    assert [queued async for queued in again.turn()] == []


@pytest.mark.parametrize("seed", range(20))
async def test_whatever_happens_all_come_through_and_never_too_many(seed: int) -> None:
    """Random agents, refusals, errors and cancellations, on a server that takes so many."""
    chance = random.Random(seed)
    most, server = chance.randint(1, 8), chance.randint(1, 4)
    limiter = Limiter(most, dice=chance.random)
    running, highest, done = 0, 0, list[str]()

    async def once(agent: str) -> ProviderError | None:
        nonlocal running, highest
        place = limiter.place(agent, chance.choice("mn"))
        async for _ in place.turn():
            pass
        running, failure = running + 1, None
        highest = max(highest, running)
        if running > server:
            failure = refused(0.001)
        elif chance.random() < 0.1:
            failure = ProviderError(FailureKind.TRANSPORT, "cut")
        try:
            await asyncio.sleep(0)
        finally:
            running -= 1
            place.left(failure)
        return failure

    async def works(agent: str) -> None:
        for _ in range(3):
            while await once(agent) is not None:
                pass
        done.append(agent)

    tasks = [asyncio.create_task(works(f"a{number}")) for number in range(30)]
    doomed = chance.sample(tasks, 5)
    await asyncio.sleep(0)
    for task in doomed:
        task.cancel()
    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(*tasks, return_exceptions=True)
    assert len(done) == 25
    assert highest <= most
    last = limiter.place("last", "m")
    assert [queued async for queued in last.turn()] == []
