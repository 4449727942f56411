"""The end of background work is told exactly once, and nothing outlives the session."""

from __future__ import annotations

import asyncio

import pytest

from gatewright.agent.commands.registry import TaskRow
from gatewright.agent.errors import GatewrightError
from gatewright.agent.record.events import TasksChanged
from gatewright.agent.session.jobs import KEPT, SessionJobs
from gatewright.tools.access import MAIN
from tests.fakes.job import FakeJob


class Desk:
    def __init__(self) -> None:
        self.told: list[str] = []
        self.shown: list[TasksChanged] = []
        self.jobs = SessionJobs(lambda _, text: self.told.append(text), self.shown.append)
        self.own = self.jobs.of(MAIN)


async def settle() -> None:
    for _ in range(3):
        await asyncio.sleep(0)


async def test_an_end_is_told_once() -> None:
    desk, job = Desk(), FakeJob("make all")
    id = desk.own.adopt(job)
    assert desk.jobs.running() == ["shell_1: make all"]
    job.ended.set()
    await settle()
    assert len(desk.told) == 1
    assert desk.told[0].startswith("Background shell shell_1 (make all) has ended: exit 0.")
    assert desk.shown == [
        TasksChanged(running=("shell_1: make all",)),
        TasksChanged(running=(), ended="shell_1", status="exit 0", title="make all", tail=job.said),
    ]
    assert desk.own.find(id) is job
    await desk.jobs.close()
    assert len(desk.told) == 1


async def test_what_the_model_has_seen_is_not_told_again() -> None:
    desk, job = Desk(), FakeJob()
    desk.jobs.told(desk.own.adopt(job))
    job.ended.set()
    await settle()
    assert desk.told == []


async def test_closing_stops_everything_silently() -> None:
    desk, jobs = Desk(), [FakeJob(), FakeJob()]
    for job in jobs:
        desk.own.adopt(job)
    await desk.jobs.close()
    assert [job.stopped for job in jobs] == [True, True]
    assert desk.told == []
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_ended_jobs_are_forgotten_in_the_end() -> None:
    desk = Desk()
    ids: list[str] = []
    for _ in range(KEPT + 20):
        job = FakeJob()
        ids.append(desk.own.adopt(job))
        job.ended.set()
        await settle()
    assert desk.own.find(ids[0]) is None
    assert desk.own.find(ids[-1]) is not None


async def test_a_person_stops_one_and_the_model_is_told() -> None:
    desk, job, other = Desk(), FakeJob("serve"), FakeJob()
    id = desk.own.adopt(job)
    desk.own.adopt(other)
    assert await desk.jobs.stop(id) == "stopped"
    await settle()
    assert (job.running, other.running) == (False, True)
    assert desk.told[0].startswith(f"Background shell {id} (serve) has ended: stopped.")
    assert await desk.jobs.stop(id) == "stopped"
    with pytest.raises(GatewrightError, match=r"no task x\. Running: shell_2"):
        await desk.jobs.stop("x")
    await desk.jobs.close()


async def test_rows_are_as_it_stands_the_newest_first() -> None:
    desk, job = Desk(), FakeJob("make all")
    desk.own.adopt(job)
    desk.own.adopt(FakeJob("serve"))
    job.ended.set()
    assert desk.jobs.rows() == [
        TaskRow("shell_2", "serve", "running", True, 12.0, "two"),
        TaskRow("shell_1", "make all", "exit 0", False, 12.0, "two"),
    ]
    await desk.jobs.close()


async def test_work_belongs_to_the_agent_that_began_it() -> None:
    told: list[tuple[str, str]] = []

    def tell(agent: str, text: str) -> None:
        told.append((agent, text))

    jobs, job = SessionJobs(tell, lambda _: None), FakeJob("make")
    id = jobs.of("main/a").adopt(job)
    assert jobs.of(MAIN).find(id) is None
    assert jobs.of(MAIN).running() == []
    assert jobs.of("main/a").running() == jobs.running() == ["shell_1: make"]
    job.ended.set()
    await settle()
    assert [agent for agent, _ in told] == ["main/a"]
