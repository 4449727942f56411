"""Durable jobs without a session: run once by whoever comes, bounded, and put into schedulers."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from gatewright.agent.autonomy.schedules.installing import KINDS, installation, with_line
from gatewright.agent.autonomy.schedules.store import Store, store_of
from gatewright.agent.autonomy.schedules.system_runs import OPEN, Answer, in_background, run_due
from gatewright.agent.autonomy.schedules.timing import ScheduleError, Terms
from gatewright.agent.record.events import Decided
from gatewright.agent.record.events_of_schedules import ScheduledJob
from gatewright.agent.settings.groups.autonomy_settings import Autonomy, Bg
from gatewright.tools.system.locks import held
from tests.e2e.program import Program
from tests.permissions.composed import desk

NOW = 1_767_225_600.0  # 2026-01-01 00:00 UTC
TERMS = Terms(jitter=False)
US = (sys.executable, "-P", str(Path(sys.executable).with_name("agent")))


class Stage:
    def __init__(self, folder: Path) -> None:
        self.store = Store(store_of(folder, Path("/project")), Path("/project"))
        self.now = NOW
        self.asked: list[tuple[str, str, float]] = []
        self.answer = Answer(ok=True, cost=0.5, session="s")

    def add(self, **more: Any) -> None:
        job = ScheduledJob(id="job_1", prompt="look", tz="UTC", durable=True, made=NOW)
        self.store.add(replace(job, **more))

    def start(self, job: ScheduledJob, prompt: str, rest: float) -> Answer:
        self.asked.append((job.id, prompt, rest))
        (record,) = [each for each in self.store.runs.now().values() if not each.over]
        assert record.state == "running"
        return self.answer

    def run(self, limits: Autonomy | None = None) -> Any:
        return run_due(
            self.store, limits or Autonomy(), TERMS, now=lambda: self.now, start=self.start
        )


def test_what_is_due_runs_once(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    assert stage.run() == ()
    stage.add(cron="0 * * * *")
    assert stage.run() == []
    stage.now += 7200
    (done,) = stage.run()
    assert (done.state, done.cost, done.session, done.slot) == ("succeeded", 0.5, "s", NOW + 7200)
    assert stage.run() == []
    ((_, prompt, rest),) = stage.asked
    assert "nobody typed it now" in prompt
    assert rest == 20.0


def test_it_leaves_them_to_an_open_session_and_to_settings(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    stage.add(cron="* * * * *")
    stage.now += 60
    with held(stage.store.runner):
        assert stage.run() == OPEN
    assert "off" in stage.run(Autonomy(enabled=False))
    assert stage.asked == []
    assert len(stage.run()) == 1


def test_its_limits(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    stage.add(cron="* * * * *")
    for _ in range(3):
        stage.now += 60
        stage.run(Autonomy(max_turns_per_hour=2))
    assert len(stage.asked) == 2
    stage.now += 7200
    (done,) = stage.run(Autonomy(max_budget_usd_per_day=1.0))
    assert (done.state, done.reason) == ("skipped", "the day's budget is spent")


def test_a_failure_is_kept_and_one_that_runs_once_is_gone(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    stage.answer = Answer(ok=False, why="no key")
    stage.add(at=NOW + 60, once=True)
    stage.now += 60
    (done,) = stage.run()
    assert (done.state, done.reason) == ("failed", "no key")
    assert stage.store.jobs() == {}


def test_a_run_that_breaks_is_over_all_the_same(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    stage.add(cron="* * * * *")
    stage.now += 60

    def breaks(job: ScheduledJob, prompt: str, rest: float) -> Answer:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_due(stage.store, Autonomy(), TERMS, now=lambda: stage.now, start=breaks)
    (run,) = stage.store.runs.now().values()
    assert (run.state, run.reason) == ("failed", "it was interrupted")


def test_a_real_process_answers(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / ".gatewright").mkdir(parents=True)
    settings = {"model": "demo", "smallModel": "demo", "sandbox": {"enabled": False}}
    (home / ".gatewright" / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    project = tmp_path / "project"
    project.mkdir()
    # A project's own files must not be taken for ours.
    (project / "msgspec.py").write_text("raise SystemExit(99)", encoding="utf-8")
    env = {**os.environ, "HOME": str(home)}
    job = ScheduledJob(id="job_1", prompt="hello", tz="UTC")
    answer = in_background(project, env, Autonomy(), Bg(), US)(job, "hello", 5.0)
    assert answer.ok, answer
    assert answer.session
    wrong = in_background(project, env, Autonomy(), Bg(), US)(
        replace(job, mode="nonsense"), "hello", 5.0
    )
    assert not wrong.ok
    assert "nonsense" in wrong.why
    assert (
        "started"
        in in_background(tmp_path / "none", env, Autonomy(), Bg(), US)(job, "hello", 5.0).why
    )


async def test_the_whole_session_of_such_a_run_is_bounded(tmp_path: Path) -> None:
    script = ['call[c1]: Bash {"command": "touch made"}', "say: done"]
    env = {"GATEWRIGHT_UNATTENDED": "acceptEdits"}
    async with desk(
        tmp_path,
        script,
        mode="bypassPermissions",
        interactive=False,
        env=env,
        options={"print_mode": True},
        settings={"env": {"GATEWRIGHT_UNATTENDED": "bypassPermissions"}},
    ) as made:
        made.session.submit("go", typed="")
        await made.ended()
        assert not (made.project / "made").exists()
        assert [each.behavior for each in made.seen.of(Decided)] == ["deny"]


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_installed_is_shown(kind: str, tmp_path: Path) -> None:
    root = tmp_path / 'a "strange" $HOME & 50% dir'
    made = installation(kind, root, tmp_path, ("/usr/bin/python3", "-P", "-m", "x", "schedule"))
    shown = made.shown()
    assert made.name in shown
    assert all(text in shown for _, text in made.files)
    if kind == "systemd":
        assert "50%% dir" in made.files[0][1]
    if kind == "launchd":
        assert "&amp;" in made.files[0][1]
    with pytest.raises(ScheduleError, match="control characters"):
        installation(kind, Path("/a\nExecStart=evil"), tmp_path, ("x",))


def test_a_cron_line_is_there_once(tmp_path: Path) -> None:
    made = installation("cron", tmp_path, tmp_path, ("agent", "schedule", "run"))
    table = "0 1 * * * backup\n"
    once = with_line(table, made, there=True)
    assert with_line(once, made, there=True) == once
    assert once.startswith(table)
    assert with_line(once, made, there=False) == table


def test_the_command_line(program: Program) -> None:
    told = program.run("schedule", "add", "0 9 * * 1-5", "check the build", "--name", "build")
    assert told.returncode == 0, told.stderr
    id = told.stdout.split(":")[0]
    assert id in program.run("schedule", "list").stdout
    assert program.run("schedule", "run").returncode == 0
    assert "Nothing has run" in program.run("schedule", "runs").stdout
    wrong = program.run("schedule", "add", "61 * * * *", "x")
    assert wrong.returncode != 0
    assert "no schedule" in wrong.stderr
    assert "never runs again" in program.run("schedule", "rm", id).stdout
    assert "There is no job" in program.run("schedule", "rm", id).stderr
