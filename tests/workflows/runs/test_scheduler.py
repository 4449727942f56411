"""Which call begins next: places of all runs together, in turn, and never held for long."""

from __future__ import annotations

import asyncio

import pytest

from gatewright.agent.workflows.runs import scheduler
from gatewright.agent.workflows.runs.scheduler import Scheduler, Turn
from tests.fakes.waiting import eventually


def made(most: int = 2) -> tuple[Scheduler, list[str]]:
    return Scheduler(lambda: most, asyncio.get_running_loop()), []


def put(line: Scheduler, begun: list[str], run: str, prefix: str, name: str) -> None:
    line.put(Turn(run, prefix, lambda: begun.append(name)))


async def test_runs_take_turns_whoever_came_first() -> None:
    line, begun = made(1)
    for n in range(3):
        put(line, begun, "a", f"a{n}", f"a{n}")
    for n in range(3):
        put(line, begun, "b", f"b{n}", f"b{n}")
    for _ in range(5):
        line.give()
    assert begun == ["a0", "a1", "b0", "a2", "b1", "b2"]
    line.close()


async def test_no_place_is_taken_by_who_is_held_or_paused() -> None:
    line, begun = made(4)
    put(line, begun, "a", "same", "first")
    put(line, begun, "a", "same", "second")
    put(line, begun, "a", "other", "third")
    assert begun == ["first", "third"]
    assert (line.taken, line.waiting("a")) == (2, 1)
    line.pause("a", on=True)
    line.begins("same")
    assert begun == ["first", "third"]
    line.pause("a", on=False)
    assert begun == ["first", "third", "second"]
    line.close()


async def test_nobody_is_held_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduler, "HELD", 0.01)
    line, begun = made(4)
    for n in range(3):
        put(line, begun, "a", "same", f"{n}")
    assert begun == ["0"]
    await eventually(lambda: begun == ["0", "1", "2"])
    line.close()


async def test_a_cache_that_is_warm_holds_nobody_and_a_cold_one_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    line, begun = made(9)
    put(line, begun, "a", "same", "0")
    line.begins("same")
    put(line, begun, "a", "same", "1")
    put(line, begun, "b", "same", "2")
    assert begun == ["0", "1", "2"], "whichever run it is"
    monkeypatch.setattr(scheduler, "WARM", -1.0)
    put(line, begun, "a", "same", "3")
    put(line, begun, "a", "same", "4")
    assert begun == ["0", "1", "2", "3"]
    line.close()


async def test_a_run_that_is_over_begins_nothing() -> None:
    line, begun = made(1)
    put(line, begun, "a", "1", "a1")
    put(line, begun, "a", "2", "a2")
    put(line, begun, "b", "3", "b1")
    line.drop("a")
    line.give()
    assert begun == ["a1", "b1"]
    line.close()
