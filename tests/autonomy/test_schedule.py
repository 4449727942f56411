"""The jobs of a session: begun once a slot, ended however the turn ends, and kept in its file."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from gatewright.agent.autonomy.schedules.schedule import Schedule, SchedulePorts
from gatewright.agent.autonomy.schedules.store import Store, store_of
from gatewright.agent.autonomy.schedules.timing import ScheduleError, Terms
from gatewright.agent.record.events import AnyEvent, JobChanged, TurnEnded, UserMessage
from gatewright.agent.record.events_of_schedules import ScheduledJob
from gatewright.agent.turn.stop import Stop
from gatewright.tools.system.locks import waited
from tests.fakes.waiting import eventually

NOW = 1_767_225_600.0  # 2026-01-01 00:00 UTC


class FakeAlarm:
    """Rings when it is told; `due` is what the task waits for."""

    def __init__(self) -> None:
        self._rung = asyncio.Event()
        self.due: float | None = None
        self.waits = 0

    def poke(self) -> None:
        self._rung.set()

    async def wait(self, when: float | None) -> None:
        self.due, self.waits = when, self.waits + 1
        await self._rung.wait()
        self._rung.clear()


class Stage:
    def __init__(self, folder: Path, *, keeps: bool = True) -> None:
        self.now, self.why = NOW, ""
        self.alarm = FakeAlarm()
        self.events: list[AnyEvent] = []
        self.given: list[tuple[str, ScheduledJob, str]] = []
        self.told: list[str] = []
        self.order: list[str] = []
        self.problem = ""
        self.store = Store(store_of(folder, Path("/project")), Path("/project")) if keeps else None
        self.schedule = Schedule(
            SchedulePorts(
                session="s1",
                time=lambda: self.now,
                terms=lambda: Terms(jitter=False),
                may=lambda: self.why,
                publish=self._published,
                kept=self._kept,
                deliver=self._deliver,
                tell=self.told.append,
                store=self.store,
            ),
            self.alarm,
        )

    def _published(self, event: AnyEvent) -> None:
        self.events.append(event)
        self.order.append("said")

    async def _kept(self) -> None:
        self.order.append("kept")

    async def _deliver(self, run: str, job: ScheduledJob, text: str) -> str:
        self.order.append("given")
        if not self.problem:
            self.given.append((run, job, text))
        return self.problem

    def add(self, **more: Any) -> ScheduledJob:
        job = ScheduledJob(id="", prompt="look at the build", tz="UTC")
        return self.schedule.add(replace(job, **more))

    async def at(self, seconds: float) -> None:
        """Time passes, and what is due is looked at."""
        self.now += seconds
        before = self.alarm.waits
        self.alarm.poke()
        await eventually(lambda: self.alarm.waits > before)

    async def settled(self) -> None:
        await self.at(0)
        await self.at(0)

    def takes_up(self, run: str) -> None:
        self.schedule.saw(UserMessage(content=(), hidden=True, source="schedule", input_id=run))

    def ends(self, stop: Stop = Stop.COMPLETED, cost: float = 0.0) -> None:
        self.schedule.saw(TurnEnded(stop=stop, cost=cost))

    def states(self) -> list[str]:
        return [each.state for each in self.schedule.runs.known.values()]


@asynccontextmanager
async def stage(folder: Path, *, keeps: bool = True) -> AsyncGenerator[Stage]:
    made = Stage(folder, keeps=keeps)
    try:
        yield made
    finally:
        await made.schedule.close()


async def test_a_run_from_its_slot_to_its_end(tmp_path: Path) -> None:
    async with stage(tmp_path) as made:
        job = made.add(cron="0 * * * *")
        await made.settled()
        assert made.alarm.due == NOW + 3600
        assert made.given == []
        made.order.clear()
        await made.at(3600.5)
        ((run, given, text),) = made.given
        assert made.order[:3] == ["said", "kept", "given"], "claimed on disk before it is given"
        assert given.last_slot == NOW + 3600
        assert "look at the build" in text
        assert "nobody typed it" in text
        made.takes_up(run)
        made.ends(cost=0.25)
        await made.settled()
        assert len(made.given) == 1
        record = made.schedule.stored_runs()[run]
        assert (record.state, record.cost, record.job) == ("succeeded", 0.25, job.id)
        assert made.alarm.due == NOW + 7200


async def test_still_running_is_skipped_and_recorded(tmp_path: Path) -> None:
    async with stage(tmp_path) as made:
        made.add(cron="* * * * *")
        await made.at(60)
        await made.at(60)
        assert len(made.given) == 1
        await made.settled()
        known = made.schedule.stored_runs().values()
        assert sorted(each.state for each in known) == ["queued", "skipped"]
        assert any("still goes on" in each.reason for each in known)


async def test_what_may_not_begin_is_skipped_and_not_made_up_for(tmp_path: Path) -> None:
    async with stage(tmp_path) as made:
        made.add(cron="* * * * *")
        made.why = "30 turns began by themselves in an hour."
        await made.at(60)
        made.why = ""
        await made.settled()
        assert made.given == []
        assert made.states() == ["skipped"]
        await made.at(60)
        assert len(made.given) == 1


async def test_deleting_wins_over_a_due_slot(tmp_path: Path) -> None:
    async with stage(tmp_path) as made:
        for durable in (False, True):
            job = made.add(cron="* * * * *", durable=durable)
            await made.settled()
            made.now += 60
            assert made.schedule.remove(job.id)
            await made.settled()
            await made.at(600)
        assert made.given == []
        assert made.schedule.jobs() == {}


async def test_asleep_for_three_days(tmp_path: Path) -> None:
    async with stage(tmp_path) as made:
        made.add(cron="0 9 * * *", name="own")
        made.add(cron="0 9 * * *", name="kept", durable=True)
        await made.settled()
        await made.at(3 * 86_400 + 10 * 3600)
        assert [job.name for _, job, _ in made.given] == ["kept"]
        assert 'late="1 h 00 min"' in made.given[0][2]


async def test_the_clock_is_set_back(tmp_path: Path) -> None:
    async with stage(tmp_path) as made:
        made.add(cron="0 * * * *")
        await made.at(3600)
        made.takes_up(made.given[0][0])
        made.ends()
        await made.at(-3600)
        await made.at(3600)
        assert len(made.given) == 1
        await made.at(3600)
        assert len(made.given) == 2


async def test_every_counts_from_the_end(tmp_path: Path) -> None:
    async with stage(tmp_path) as made:
        made.add(every=60.0)
        await made.at(60)
        run = made.given[0][0]
        made.takes_up(run)
        await made.at(600)
        assert len(made.given) == 1
        made.ends()
        await made.settled()
        assert made.alarm.due == NOW + 720
        await made.at(60)
        assert len(made.given) == 2


async def test_one_that_runs_once_is_gone_then(tmp_path: Path) -> None:
    async with stage(tmp_path) as made:
        made.add(at=NOW + 100, once=True)
        made.add(at=NOW + 100, once=True, durable=True)
        await made.settled()
        await made.at(100)
        assert len(made.given) == 2
        await made.settled()
        assert made.schedule.jobs() == {}
        assert made.alarm.due is None


async def test_a_moment_that_was_missed_is_told(tmp_path: Path) -> None:
    async with stage(tmp_path) as made:
        made.add(at=NOW + 100, once=True, name="call")
        await made.settled()
        await made.at(500)
        await made.settled()
        assert made.given == []
        assert made.told == ["call was not run: 2026-01-01 00:01:40 UTC is over."]
        assert made.schedule.jobs() == {}


@pytest.mark.parametrize(
    ("stop", "state"),
    [
        (Stop.COMPLETED, "succeeded"),
        (Stop.ABORTED_TOOLS, "cancelled"),
        (Stop.MODEL_ERROR, "failed"),
        (Stop.PROVIDER_AUTH, "failed"),
    ],
)
async def test_how_a_turn_ends_is_how_its_run_ends(tmp_path: Path, stop: Stop, state: str) -> None:
    async with stage(tmp_path) as made:
        made.add(cron="* * * * *")
        await made.at(60)
        made.takes_up(made.given[0][0])
        made.ends(stop)
        assert made.states() == [state]
        made.ends(Stop.COMPLETED)
        assert made.states() == [state], "an end is final"


@pytest.mark.parametrize("durable", [False, True])
async def test_three_failed_runs_pause_a_job(tmp_path: Path, durable: bool) -> None:
    async with stage(tmp_path) as made:
        job = made.add(cron="* * * * *", durable=durable)
        for count in range(3):
            await made.at(60)
            assert len(made.given) == count + 1
            made.takes_up(made.given[-1][0])
            made.ends(Stop.MODEL_ERROR)
        await made.settled()
        assert made.schedule.jobs()[job.id].paused == "3 runs in a row failed"
        assert made.told == ["look at the build is paused: 3 runs in a row failed."]
        await made.at(600)
        assert len(made.given) == 3
        assert made.schedule.pause(job.id, "")
        await made.at(60)
        assert len(made.given) == 4


async def test_what_cannot_be_given_failed(tmp_path: Path) -> None:
    async with stage(tmp_path) as made:
        made.problem = "/nothing is no command file, skill or workflow here."
        made.add(cron="* * * * *")
        await made.at(60)
        assert [each.reason for each in made.schedule.runs.known.values()] == [made.problem]


async def test_the_end_of_the_session_ends_its_runs(tmp_path: Path) -> None:
    async with stage(tmp_path) as made:
        made.add(cron="* * * * *")
        made.add(cron="* * * * *", durable=True)
        await made.at(60)
        made.takes_up(made.given[0][0])
    store = made.store
    assert store is not None
    assert sorted(each.state for each in store.runs.now().values()) == ["cancelled", "failed"]
    (kept,) = store.jobs().values()
    assert kept.failures == 0, "that is no failure of the job"


async def test_session_jobs_come_back_and_one_that_expired_does_not(tmp_path: Path) -> None:
    async with stage(tmp_path) as made:
        kept = made.add(cron="0 * * * *")
        gone = made.add(cron="0 * * * *")
        made.schedule.remove(gone.id)
        await made.at(3600)
        events = [each for each in made.events if isinstance(each, JobChanged)]
    async with stage(tmp_path) as later:
        later.now = made.now + 1
        for event in events:
            later.schedule.restore(event)
        assert list(later.schedule.own) == [kept.id]
        later.schedule.begin()
        await later.settled()
        assert later.given == [], "its slot was claimed before"
    async with stage(tmp_path) as late:
        late.schedule._since = kept.expires + 1  # pyright: ignore[reportPrivateUsage]
        for event in events:
            late.schedule.restore(event)
        assert late.schedule.own == {}


async def test_the_last_run_says_so(tmp_path: Path) -> None:
    async with stage(tmp_path) as made:
        job = made.add(cron="0 0 * * *")
        made.schedule.own[job.id] = replace(job, expires=NOW + 90_000)
        await made.at(86_400)
        assert "This was its last run" in made.given[0][2]
        assert made.schedule.jobs() == {}


async def test_one_session_runs_durable_jobs_and_the_next_takes_over(tmp_path: Path) -> None:
    async with stage(tmp_path) as first, stage(tmp_path) as second:
        first.add(cron="0 * * * *", durable=True)
        await first.settled()
        second.schedule.begin()
        await second.settled()
        assert (first.schedule.runner, second.schedule.runner) == (True, False)
        await second.at(3600)
        assert second.given == []
        await first.schedule.close()
        await eventually(lambda: second.schedule.runner)
        await eventually(lambda: len(second.given) == 1)


async def test_a_runner_that_a_system_holds_is_waited_for(tmp_path: Path) -> None:
    async with stage(tmp_path) as made:
        assert made.store is not None
        made.store.path.parent.mkdir(parents=True)
        lock = waited(made.store.runner)
        made.add(cron="* * * * *", durable=True)
        await made.at(60)
        assert made.given == []
        os.close(lock)
        await eventually(lambda: made.schedule.runner)


async def test_a_person_may_run_one_now(tmp_path: Path) -> None:
    async with stage(tmp_path) as made:
        job = made.add(cron="0 0 1 1 *")
        made.schedule.now(job.id)
        await made.settled()
        assert len(made.given) == 1
        assert next(iter(made.schedule.runs.known.values())).trigger == "person"
        assert job.id in made.schedule.jobs()


async def test_what_a_person_runs_now_comes_in_the_order_asked_for(tmp_path: Path) -> None:
    async with stage(tmp_path) as made:
        jobs = [made.add(cron="0 0 1 1 *").id for _ in range(12)]
        for id in jobs[:-1]:
            made.schedule.now(id)
        await asyncio.sleep(0)  # the look at them has begun
        made.schedule.now(jobs[-1])
        await made.settled()
        assert [each.job for each in made.schedule.runs.known.values()] == jobs


async def test_a_job_that_the_model_wakes_comes_again_or_ends(tmp_path: Path) -> None:
    async with stage(tmp_path) as made:
        job = made.add(at=NOW, once=False, wakes=True)
        await made.settled()
        made.takes_up(made.given[0][0])
        assert made.schedule.again(job.id, NOW + 90)
        made.ends()
        await made.at(90)
        assert len(made.given) == 2
        assert "call Sleep" in made.given[1][2]
        made.takes_up(made.given[1][0])
        made.ends()
        await made.settled()
        assert made.schedule.jobs() == {}


async def test_a_session_that_keeps_nothing_has_no_durable_jobs(tmp_path: Path) -> None:
    async with stage(tmp_path, keeps=False) as made:
        with pytest.raises(ScheduleError, match="keeps nothing"):
            made.add(cron="* * * * *", durable=True)
        made.add(cron="* * * * *")
        await made.at(60)
        assert len(made.given) == 1
    assert not (tmp_path / "state").exists()
