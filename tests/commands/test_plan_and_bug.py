"""/plan goes into plan mode and shows the plan; /bug writes a report without secrets."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from gatewright.agent.commands.outcome import Form, Say
from gatewright.agent.launch.bug_report import Told, write_report
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.settings.workspace import survey
from gatewright.tools.blocks import Markdown
from tests.fakes.commands import told as words
from tests.fakes.fake_session import FakeSession

AT = "2026-11-18 14:30:00,123"
KEY = "sk-" + "made-up-" * 4


def planner() -> FakeSession:
    session = FakeSession()
    session.know("plan", "bug")
    return session


async def test_plan_goes_into_plan_mode_and_then_tells_of_the_plan(tmp_path: Path) -> None:
    session = planner()
    session.modes.plan = tmp_path / "plan.md"
    assert words(await session.run_command("/plan")) == "Mode: plan"
    assert "There is none yet" in words(await session.run_command("/plan"))
    assert "no plan yet" in words(await session.run_command("/plan open"))
    session.modes.plan.write_text("# First\n\nThen.\n", encoding="utf-8")
    shown = await session.run_command("/plan")
    assert isinstance(shown, Say) and shown.blocks[0] == Markdown("# First\n\nThen.\n")
    assert str(session.modes.plan) in words(shown)
    assert session.sent == []


async def test_plan_with_a_task_sends_it_in_plan_mode() -> None:
    session = planner()
    await session.run_command("/plan mend the parser")
    assert (session.mode, session.sent) == ("plan", ["mend the parser"])


async def test_the_plan_can_be_edited(tmp_path: Path) -> None:
    session = planner()
    path = session.modes.plan = tmp_path / "plan.md"
    path.write_text("one\n", encoding="utf-8")
    outcome = await session.run_command("/plan open")
    assert isinstance(outcome, Form) and outcome.text == "one\n"
    assert str(path) in words(outcome), "without a screen it says where the plan is"
    assert words(await outcome.take("two\n")) == f"The plan is kept in {path}."
    assert path.read_text(encoding="utf-8") == "two\n"
    path.unlink()
    path.mkdir()
    assert "cannot be written" in words(await outcome.take("three\n"))


@pytest.fixture
def report(tmp_path: Path) -> str:
    home, project = tmp_path / "home", tmp_path / "project"
    logs = home / ".gatewright" / "logs"
    logs.mkdir(parents=True)
    project.mkdir()
    settings = (
        '{"model": "acme-internal", "env": {"ACME_VAULT": "value-of-mine"},'
        ' "providers": {"acme": {"baseUrl": "https://models.acme.example"}},'
        ' "projects": {"/work/client-of-mine": {"permissions": {"deny": ["Bash"]}}}}'
    )
    (home / ".gatewright" / "settings.json").write_text(settings, encoding="utf-8")
    error = f"it broke with {KEY} and hunter-2-hunter in {home}/a.py"
    trace = "Traceback (most recent call last):\nValueError: far off\n"
    (logs / "errors.log").write_text(f"{AT} ERROR x: {error}\n{trace}", encoding="utf-8")
    log = f"the end of a body\n{AT} DEBUG a: body\nmore of the body\n{AT} WARNING b: odd\n"
    (logs / "0000042.log").write_text(log, encoding="utf-8")
    env = {"HOME": str(home), "TERM": "xterm", "TMUX": "/tmp/x,1", "MY_TOKEN": "hunter-2-hunter"}
    around = survey(LaunchOptions(cwd=str(project)), env, interactive=True)
    told = Told(said="It froze.", model="anthropic/claude", mode="default")
    path = write_report(around, told)
    assert path.parent == home / ".gatewright" / "reports"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    return path.read_text(encoding="utf-8")


def test_a_report_has_what_helps(report: str) -> None:
    for fact in ("It froze.", "anthropic/claude", "version ", "Python 3", "TERM=xterm"):
        assert fact in report
    assert "- set: TMUX" in report
    assert "- model (user)" in report and "- env (user)" in report
    assert "it broke with [redacted]" in report and f"{AT} WARNING b: odd\n" in report
    assert "ValueError: far off\n" in report


def test_a_report_has_no_secrets_and_no_values(report: str) -> None:
    names = (KEY, "hunter-2", "acme", "ACME", "value-of-mine", "DEBUG", "body", "client-of-mine")
    hidden = (*names, "/home/.gatewright")
    assert [word for word in hidden if word in report] == []
