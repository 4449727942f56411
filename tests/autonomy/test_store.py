"""Durable jobs: no slot is claimed twice, whatever is killed and when, and runs only go forward."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from gatewright.agent.autonomy.schedules.runs import KEPT, ROOM, RunRecord, Runs, folded, rank
from gatewright.agent.autonomy.schedules.store import MOST_JOBS, Store, ended, store_of
from gatewright.agent.autonomy.schedules.timing import ScheduleError, Terms, due
from gatewright.agent.record.events_of_schedules import ScheduledJob
from gatewright.tools.system import private
from gatewright.tools.system.lifetimes import Lifetime, ours

NOW = 1_774_650_000.0  # the evening before an hour is skipped in Berlin
TERMS = Terms(jitter=False)
US = ours()


def job(id: str, **more: Any) -> ScheduledJob:
    made = ScheduledJob(
        id=id, prompt="look", cron="*/20 * * * *", tz="Europe/Berlin", durable=True, made=NOW
    )
    return replace(made, **more)


def run_of(job: ScheduledJob, slot: float, name: str = "run_1") -> RunRecord:
    return RunRecord(run=name, job=job.id, slot=slot, state="queued", owner=US, at=slot)


def store(folder: Path) -> Store:
    return Store(store_of(folder, Path("/project")), Path("/project"))


def test_a_slot_is_claimed_once_and_a_deleted_job_never(tmp_path: Path) -> None:
    kept, one = store(tmp_path), job("job_1")
    kept.add(one)
    assert kept.claim("job_1", 10.0, run_of(one, 10.0)) is not None
    other = store(tmp_path)
    assert other.claim("job_1", 10.0, run_of(one, 10.0, "run_2")) is None
    assert other.claim("job_1", 9.0, run_of(one, 9.0, "run_3")) is None, "the clock was set back"
    assert other.remove("job_1")
    assert kept.claim("job_1", 20.0, run_of(one, 20.0, "run_4")) is None
    assert list(kept.runs.now()) == ["run_1"]
    assert kept.path.stat().st_mode & 0o077 == 0


def test_times_of_a_job_never_go_back(tmp_path: Path) -> None:
    kept = store(tmp_path)
    kept.add(job("job_1", last_slot=50.0, last_end=60.0))
    kept.change("job_1", lambda now: replace(now, last_slot=1.0, last_end=2.0, name="x"))
    after = kept.jobs()["job_1"]
    assert (after.last_slot, after.last_end, after.name) == (50.0, 60.0, "x")


def test_three_failures_in_a_row_pause_it(tmp_path: Path) -> None:
    one = job("job_1")
    for at in (1.0, 2.0):
        one = ended(one, at, ok=False)
    assert (one.failures, one.paused) == (2, "")
    assert ended(one, 3.0, ok=True).failures == 0
    assert "3 runs in a row" in ended(one, 3.0, ok=False).paused


def test_there_is_room_for_so_many(tmp_path: Path) -> None:
    kept = store(tmp_path)
    for number in range(MOST_JOBS):
        kept.add(job(f"job_{number}"))
    with pytest.raises(ScheduleError, match="delete one first"):
        kept.add(job("job_more"))


def test_what_cannot_be_read_is_told_and_never_written_over(tmp_path: Path) -> None:
    kept = store(tmp_path)
    kept.add(job("job_1"))
    kept.path.write_text('{"jobs": [{"id": 7}]}', encoding="utf-8")
    for attempt in (lambda: kept.add(job("job_2")), lambda: kept.remove("job_1"), kept.jobs):
        with pytest.raises(ScheduleError, match="not as it was written"):
            attempt()
    assert kept.path.read_text(encoding="utf-8") == '{"jobs": [{"id": 7}]}'


def test_runs_keep_their_newest_and_those_that_live(tmp_path: Path) -> None:
    runs = Runs(tmp_path / "runs.jsonl")
    alive = RunRecord(run="alive", job="j", slot=0.0, state="running", owner=ours())
    runs.add(alive)
    for number in range(KEPT * ROOM):
        runs.add(RunRecord(run=f"r{number}", job="j", slot=float(number), state="skipped"))
    known = runs.now()
    assert "alive" in known
    assert len(known) <= KEPT * ROOM
    assert f"r{KEPT * ROOM - 1}" in known
    assert len((tmp_path / "runs.jsonl").read_bytes().splitlines()) < KEPT * ROOM


def test_a_line_that_a_kill_cut_costs_no_other(tmp_path: Path) -> None:
    runs = Runs(tmp_path / "runs.jsonl")
    one = RunRecord(run="a", job="j", slot=0.0, state="running", owner=ours())
    runs.add(one)
    with (tmp_path / "runs.jsonl").open("ab") as file:
        file.write(b'{"run":"b","jo')
    runs.add(replace(one, run="c"))
    assert list(runs.now()) == ["a", "c"]


def test_the_runs_of_the_dead_fail_once_and_stay_so(tmp_path: Path) -> None:
    runs = Runs(tmp_path / "runs.jsonl")
    gone = RunRecord(run="a", job="j", slot=0.0, state="running", owner=Lifetime(999_999, "1"))
    runs.add(gone)
    assert [each.state for each in runs.settle(5.0)] == ["failed"]
    assert runs.settle(6.0) == []
    assert not runs.add(replace(gone, state="succeeded"))
    assert runs.now()["a"].reason.startswith("interrupted")


def test_steps_only_lead_forward() -> None:
    drawn = random.Random(7)
    states: list[Any] = ["queued", "running", "succeeded", "failed", "cancelled", "skipped"]
    for _ in range(300):
        seen = 0
        lines: list[RunRecord] = []
        first = ""
        for _ in range(10):
            lines.append(RunRecord(run="a", job="j", slot=0.0, state=drawn.choice(states)))
            now = folded(lines)["a"]
            assert rank(now.state) >= seen
            seen = rank(now.state)
            first = first or (now.state if now.over else "")
            assert not now.over or now.state == first, "an end is final"


class Killed(BaseException):
    """As kill -9 leaves it: nothing after it runs, and the kernel lets go of the lock."""


class Killing:
    """Dies before the n-th step that changes a file."""

    def __init__(self, drawn: random.Random, patch: pytest.MonkeyPatch) -> None:
        self._drawn, self.left = drawn, -1
        patch.setattr(private, "write", self._dying(private.write))
        patch.setattr(Path, "replace", self._dying(Path.replace))
        patch.setattr(Runs, "add", self._dying(Runs.add))

    def _dying(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def step(*args: Any) -> Any:
            if self.left == 0:
                raise Killed
            self.left -= 1
            return real(*args)

        return step

    def arm(self) -> None:
        self.left = self._drawn.choice([-1, -1, 0, 1, 2, 3])


def play(folder: Path, seed: int, patch: pytest.MonkeyPatch) -> int:
    """One random life of a store: looks of several processes, jumps of time, kills, deletes."""
    drawn = random.Random(seed)
    killing, now = Killing(drawn, patch), NOW
    processes = [store(folder / str(seed)) for _ in range(3)]
    for number in range(2):
        processes[0].add(job(f"job_{number}"))
    fired: set[tuple[str, float]] = set()
    deleted: set[str] = set()
    ranks: dict[str, int] = {}
    for _ in range(12):
        now += drawn.choice([60, 1200, 3600, 86_400 * 3, -3600, -86_400]) * drawn.random()
        process = drawn.choice(processes)
        killing.arm()
        with suppress(Killed):
            for each in list(process.jobs().values()):
                found = due(each, now, TERMS)
                stale = drawn.choice([0.0, 0.0, 1200.0])  # it looked, and slept, and acts now
                if not found.slot:
                    continue
                record = run_of(each, found.slot - stale, f"run_{len(fired)}_{drawn.random()}")
                if process.claim(each.id, found.slot - stale, record) is not None:
                    assert each.id not in deleted
                    assert (each.id, found.slot - stale) not in fired, "a slot fired twice"
                    fired.add((each.id, found.slot - stale))
                    process.record(replace(record, state="running"))
                    process.record(replace(record, state="succeeded"))
            if drawn.random() < 0.1 and process.remove("job_1"):
                deleted.add("job_1")
        killing.left = -1
        for run, record in process.runs.now().items():
            assert rank(record.state) >= ranks.get(run, 0)
            ranks[run] = rank(record.state)
    return len(fired)


def lives(folder: Path, count: int, first: int = 0) -> None:
    fired = 0
    for seed in range(first, first + count):
        with pytest.MonkeyPatch.context() as patch:
            fired += play(folder, seed, patch)
    assert fired > count, "it has to have done something"


def test_no_slot_fires_twice_in_random_lives(tmp_path: Path) -> None:
    lives(tmp_path, 150)


@pytest.mark.proof
@pytest.mark.timeout(600)
@pytest.mark.parametrize("part", range(10))
def test_no_slot_fires_twice_in_ten_thousand_random_lives(tmp_path: Path, part: int) -> None:
    lives(tmp_path, 1_000, part * 1_000)


def test_twenty_processes_that_are_killed(tmp_path: Path) -> None:
    kept, log = store(tmp_path), tmp_path / "log"
    for number in range(5):
        kept.add(job(f"job_{number}"))
    command = [sys.executable, "-m", "tests.autonomy.claimer", str(kept.path), str(log), "40"]
    started = [subprocess.Popen([*command, str(seed)]) for seed in range(20)]
    drawn = random.Random(3)
    for process in started[:10]:
        try:
            process.wait(timeout=drawn.random() * 1.5 + 0.8)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
    for process in started:
        assert process.wait(timeout=60) in (0, -signal.SIGKILL)
    won: set[tuple[str, str]] = set()
    gone: set[str] = set()
    late: set[tuple[str, str, str]] = set()
    lines = [line.split() for line in log.read_text(encoding="utf-8").splitlines()]
    assert any(line[0] == "won" for line in lines)
    for line in lines:
        match line:
            case ["tries", id, pid, nth] if id in gone:
                late.add((id, pid, nth))
            case ["won", id, pid, nth, slot]:
                assert (id, pid, nth) not in late, "a deleted job was won"
                assert (id, slot) not in won, "two won one slot"
                won.add((id, slot))
            case ["deleted", id, _, _]:
                gone.add(id)
            case _:
                pass
    msgspec.json.decode(kept.path.read_bytes())
