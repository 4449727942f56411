"""The end of background work is told exactly once, and nothing outlives the session."""

from __future__ import annotations

import asyncio

import pytest

from gatewright.agent.commands.tasks import TaskRow
from gatewright.agent.errors import GatewrightError
from gatewright.agent.record.events import TasksChanged
from gatewright.agent.session.jobs import KEPT, SessionJobs
from tests.fakes.job import FakeJob


class Desk:
    def __init__(self) -> None:
        self.told: list[str] = []
        self.shown: list[TasksChanged] = []
        self.jobs = SessionJobs(self.told.append, self.shown.append)


async def settle() -> None:
    for _ in range(3):
        await asyncio.sleep(0)


async def test_an_end_is_told_once() -> None:
    desk, job = Desk(), FakeJob("make all")
    id = desk.jobs.adopt(job)
    assert desk.jobs.running() == ["shell_1: make all"]
    job.ended.set()
    await settle()
    assert len(desk.told) == 1
    assert desk.told[0].startswith("Background shell shell_1 (make all) has ended: exit 0.")
    assert desk.shown == [
        TasksChanged(running=("shell_1: make all",)),
        TasksChanged(running=(), ended="shell_1", status="exit 0"),
    ]
    assert desk.jobs.find(id) is job
    await desk.jobs.close()
    assert len(desk.told) == 1


async def test_what_the_model_has_seen_is_not_told_again() -> None:
    desk, job = Desk(), FakeJob()
    desk.jobs.told(desk.jobs.adopt(job))
    job.ended.set()
    await settle()
    assert desk.told == []


async def test_closing_stops_everything_silently() -> None:
    desk, jobs = Desk(), [FakeJob(), FakeJob()]
    for job in jobs:
        desk.jobs.adopt(job)
    await desk.jobs.close()
    assert [job.stopped for job in jobs] == [True, True]
    assert desk.told == []
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_ended_jobs_are_forgotten_in_the_end() -> None:
    desk = Desk()
    ids: list[str] = []
    for _ in range(KEPT + 20):
        job = FakeJob()
        ids.append(desk.jobs.adopt(job))
        job.ended.set()
        await settle()
    assert desk.jobs.find(ids[0]) is None
    assert desk.jobs.find(ids[-1]) is not None


async def test_a_person_stops_one_and_the_model_is_told() -> None:
    desk, job, other = Desk(), FakeJob("serve"), FakeJob()
    id = desk.jobs.adopt(job)
    desk.jobs.adopt(other)
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
    desk.jobs.adopt(job)
    desk.jobs.adopt(FakeJob("serve"))
    job.ended.set()
    assert desk.jobs.rows() == [
        TaskRow("shell_2", "serve", "running", True, 12.0, "two"),
        TaskRow("shell_1", "make all", "exit 0", False, 12.0, "two"),
    ]
    await desk.jobs.close()
