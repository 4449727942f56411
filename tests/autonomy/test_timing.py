"""When jobs are due: fields, zones, hours that are skipped or doubled, jitter, clocks that jump."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from gatewright.agent.autonomy.schedules.timing import (
    GRACE,
    ScheduleError,
    Terms,
    due,
    jitter,
    last_run,
    local_zone,
    moment,
    seconds_of,
    slots,
    understood,
)
from gatewright.agent.autonomy.schedules.wanted import from_line
from gatewright.agent.record.events_of_schedules import ScheduledJob
from tests.fakes.examples import many

BERLIN = "Europe/Berlin"  # 2026-03-29 02:00 -> 03:00, 2026-10-25 03:00 -> 02:00
PLAIN = Terms(jitter=False)


def at(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


def job(
    cron: str, *, made: str = "2026-01-01T00:00", tz: str = BERLIN, **more: object
) -> ScheduledJob:
    made_job = ScheduledJob(id="job_1", prompt="look", cron=cron, tz=tz, made=at(made))
    return replace(made_job, **more)


def utc(cron: str, after: str, count: int) -> list[str]:
    found = islice(slots(job(cron), at(after)), count)
    return [datetime.fromtimestamp(each, UTC).strftime("%d %H:%M") for each in found]


SKIPPED = [  # in UTC, around the night of 29 March: 01:00 UTC is the moment of the change
    ("30 2 * * *", ["28 01:30", "29 01:00", "30 00:30"]),  # once, right after the gap
    ("0 2 * * *", ["28 01:00", "29 01:00", "30 00:00"]),
    ("30 3 * * *", ["28 02:30", "29 01:30", "30 01:30"]),
    ("0,30 2,3 * * *", ["28 01:00", "28 01:30", "28 02:00", "28 02:30", "29 01:00", "29 01:30"]),
]
DOUBLED = [  # around 25 October: 02:00 to 03:00 local happens at 00:00 and at 01:00 UTC
    ("30 2 * * *", ["24 00:30", "25 00:30", "26 01:30"]),  # a fixed time once
    ("0 3 * * *", ["24 01:00", "25 02:00", "26 02:00"]),
]


@pytest.mark.parametrize(("cron", "expected"), SKIPPED)
def test_an_hour_that_is_skipped(cron: str, expected: list[str]) -> None:
    assert utc(cron, "2026-03-27T12:00", len(expected)) == expected


@pytest.mark.parametrize(("cron", "expected"), DOUBLED)
def test_an_hour_that_comes_twice(cron: str, expected: list[str]) -> None:
    assert utc(cron, "2026-10-23T12:00", len(expected)) == expected


def test_what_runs_every_hour_runs_in_both_and_never_in_none() -> None:
    before = utc("15 * * * *", "2026-10-24T22:30", 5)
    assert before == ["24 23:15", "25 00:15", "25 01:15", "25 02:15", "25 03:15"]
    spring = utc("15 * * * *", "2026-03-28T23:30", 3)
    assert spring == ["29 00:15", "29 01:15", "29 02:15"]


def test_after_the_first_of_a_doubled_hour_its_second_is_no_new_slot() -> None:
    second = at("2026-10-25T01:10")  # 02:10 local for the second time
    assert next(slots(job("30 2 * * *"), second)) == at("2026-10-26T01:30")


@pytest.mark.parametrize(
    "text",
    ["* * * *", "0 0 0 * * *", "61 * * * *", "* * 31 2 *", "@reboot", "x", "", "*/0 * * * *"],
)
def test_what_is_no_schedule_is_said_so(text: str) -> None:
    with pytest.raises(ScheduleError, match="no schedule"):
        understood(text)


@pytest.mark.parametrize("text", ["0 9 * * 1-5", " @Daily ", "*/15 9-17 * * MON-FRI", "0 0 L * *"])
def test_what_is_one(text: str) -> None:
    assert len(understood(text).split()) == 5


def test_intervals_and_moments() -> None:
    assert [seconds_of(each) for each in ("30s", "5m", "2h30m", "1d")] == [30, 300, 9000, 86400]
    for wrong in ("5", "29s", "m5", "400d", "5 minutes"):
        with pytest.raises(ScheduleError, match="no interval"):
            seconds_of(wrong)
    now = at("2026-03-01T00:00")
    assert moment("2026-03-02T09:30", BERLIN, now) == at("2026-03-02T08:30")
    with pytest.raises(ScheduleError, match="over already"):
        moment("2026-02-28", BERLIN, now)


def test_the_zone_of_the_machine(tmp_path: Path) -> None:
    assert local_zone({"TZ": ":Asia/Tokyo"}) == "Asia/Tokyo"
    with pytest.raises(ScheduleError, match="not known here"):
        local_zone({"TZ": "Mars/Olympus"})
    zone = tmp_path / "zoneinfo" / "Europe" / "Berlin"
    zone.parent.mkdir(parents=True)
    zone.write_bytes(b"")
    (tmp_path / "localtime").symlink_to(zone)
    assert local_zone({}, tmp_path / "localtime") == "Europe/Berlin"
    assert local_zone({}, tmp_path / "none") == "UTC"


def test_a_session_makes_up_for_nothing_and_a_durable_job_for_the_newest() -> None:
    nine, later = job("0 9 * * *"), at("2026-01-08T09:00")
    terms = replace(PLAIN, since=at("2026-01-05T00:00"))
    assert due(nine, later, terms).slot == 0.0, "three days asleep, 09:00 UTC is 10:00 there"
    found = due(replace(nine, durable=True), later, terms)
    assert (found.slot, found.late) == (at("2026-01-08T08:00"), 3600.0)
    assert found.next == at("2026-01-09T08:00")
    old = due(replace(nine, durable=True), at("2026-01-09T07:59"), replace(terms, catch_up=3600.0))
    assert old.slot == 0.0, "older than it is made up for"


def test_a_moment_that_was_missed_is_told_and_one_that_was_claimed_is_over() -> None:
    once = ScheduledJob(id="j", prompt="p", at=1_000.0, once=True, made=1.0)
    assert due(once, 999.0, PLAIN).next == 1_000.0
    assert due(once, 1_000.0, PLAIN).slot == 1_000.0
    assert due(once, 1_000.0 + GRACE + 1, PLAIN).missed == 1_000.0
    assert due(replace(once, last_slot=1_000.0), 1_000.5, PLAIN) == due(
        replace(once, last_slot=1_000.0), 500.0, PLAIN
    )


def test_an_interval_counts_from_the_end_of_the_last_run() -> None:
    every = ScheduledJob(id="j", prompt="p", every=60.0, made=1_000.0)
    terms = replace(PLAIN, since=1_000.0)
    assert due(every, 1_010.0, terms).next == 1_060.0
    assert due(replace(every, last_slot=1_060.0, last_end=1_500.0), 1_510.0, terms).next == 1_560.0


def test_jitter_is_the_jobs_own_and_never_early() -> None:
    for number in range(200):
        hourly = replace(job("0 * * * *"), id=f"job_{number}")
        assert 0.0 <= jitter(hourly) <= 300.0
        assert jitter(hourly) == jitter(hourly)
        slot = at("2026-01-05T09:00")
        assert due(hourly, slot + jitter(hourly) - 0.01, Terms()).slot < slot
        assert due(hourly, slot + jitter(hourly) + 0.01, Terms()).slot == slot
    assert jitter(job("* * * * *")) <= 6.0
    assert jitter(replace(job("0 9 * * *"), once=True)) == 0.0


def test_the_last_run_before_it_expires_is_known() -> None:
    daily = job("0 9 * * *", expires=at("2026-01-08T00:00"))
    assert not last_run(daily, at("2026-01-06T08:00"))
    assert last_run(daily, at("2026-01-07T08:00"))
    assert due(daily, at("2026-01-08T08:00"), PLAIN).slot == 0.0


CRONS = ["* * * * *", "*/7 * * * *", "30 2 * * *", "0 2,3 * * *", "15 */2 * * *", "0 9 * * 1"]


@settings(max_examples=many(400), deadline=None)
@given(
    cron=st.sampled_from(CRONS),
    seed=st.integers(0, 2**32),
    durable=st.booleans(),
    start=st.sampled_from(["2026-03-27T20:00", "2026-10-23T20:00", "2026-06-01T00:00"]),
)
def test_whatever_the_clock_does_no_slot_is_due_twice(
    cron: str, seed: int, durable: bool, start: str
) -> None:
    drawn, now = random.Random(seed), at(start)
    made = replace(job(cron), id=f"job_{seed}", made=now, durable=durable)
    fired: list[float] = []
    terms = Terms(since=now, jitter=drawn.random() < 0.5)
    for _ in range(60):
        step = drawn.choice([1, 30, 60, 3600, 86_400 * 3, -60, -3600, -86_400])
        now += step * drawn.random()
        found = due(made, now, terms)
        if found.slot:
            assert found.slot <= now, "never early"
            assert found.slot > made.last_slot, "only forward"
            fired.append(found.slot)
            made = replace(made, last_slot=found.slot)
            assert due(made, now, terms).slot == 0.0
    assert len(set(fired)) == len(fired)
    assert fired == sorted(fired)


def test_lines_of_people(monkeypatch: pytest.MonkeyPatch) -> None:
    env, now = {"TZ": BERLIN}, at("2026-01-01T00:00")
    daily = from_line("--durable --name=build 0 9 * * 1-5 check the build", env, now)
    assert (daily.cron, daily.prompt, daily.durable) == ("0 9 * * 1-5", "check the build", True)
    assert (daily.name, daily.tz) == ("build", BERLIN)
    assert from_line("every 30m look at CI", env, now).every == 1800
    assert from_line("@hourly look", env, now).cron == "0 * * * *"
    assert from_line("at 2026-01-02T09:00 look", env, now).once
    for wrong in ("", "look", "every 30m", "every look", "0 9 * * look at it now"):
        with pytest.raises(ScheduleError):
            from_line(wrong, env, now)
