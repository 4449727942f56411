"""Sub-commands judge and confine with the settings and rules of here, as a session would."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gatewright.agent.launch.main import launch
from gatewright.agent.subcommands.questions.judging import Judge
from gatewright.permissions.sandbox import probe as probing
from gatewright.permissions.sandbox.machine import Machine, machine

Run = Callable[..., tuple[int, str, str]]
confined = pytest.mark.skipif(
    probing.probe(machine()).level != "bwrap", reason="no bubblewrap here"
)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Run in a project and with a home of the test's own."""
    for name in ("home", "project"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path / "project")

    def run_(*arguments: str) -> tuple[int, str, str]:
        code = launch(arguments)
        out, err = capfd.readouterr()
        return code, out, err

    return run_


@confined
def test_rule_tests_and_suggestions_judge_in_the_sandbox_as_explain(
    run: Run, tmp_path: Path
) -> None:
    file, calls = tmp_path / "rules.jsonl", [("Bash", {"command": "git status --short"})] * 2

    def expect(behavior: str, more: str = "") -> str:
        line = f'{{"command": "git status --short", "expect": "{behavior}"{more}}}'
        file.write_text(line, encoding="utf-8")
        return run("permissions", "test", str(file))[1]

    assert expect("allow") == "1 of 1 as expected\n"
    assert expect("ask", ', "context": {"sandbox": false}') == "1 of 1 as expected\n"
    assert Judge().grants(calls) == []
    assert run("config", "set", "sandbox.enabled", "false")[0] == 0
    assert expect("ask") == "1 of 1 as expected\n"
    assert Judge().grants(calls) == ["Bash(git status:*)"] * 2


def test_rule_tests_know_that_no_command_runs_without_a_sandbox(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: Machine) -> probing.Found:
        return probing.Found("none", "It is broken.")

    monkeypatch.setattr(probing, "probe", broken)
    assert run("config", "set", "sandbox.failIfUnavailable", "true")[0] == 0
    file = tmp_path / "rules.jsonl"
    file.write_text('{"command": "ls", "expect": "deny"}', encoding="utf-8")
    assert run("permissions", "test", str(file)) == (0, "1 of 1 as expected\n", "")


@confined
def test_sandbox_run_keeps_what_permission_rules_deny(run: Run, tmp_path: Path) -> None:
    project = tmp_path / "project"
    for name in ("secret", "kept", "sub/kept", "open"):
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text("text\n", encoding="utf-8")
    for rule in ("Read(secret)", "Edit(/kept)"):
        assert run("permissions", "add", "deny", rule, "-s", "user")[0] == 0
    assert run("sandbox", "run", "--", "cat", "open")[:2] == (0, "text\n")
    code, out, _ = run("sandbox", "run", "--", "cat", "secret")
    assert (code == 0, "text" in out) == (False, False)
    assert run("sandbox", "run", "--", "sh", "-c", "echo x > sub/kept; echo y > kept")[0] != 0
    assert (project / "kept").read_text(encoding="utf-8") == "text\n"
    assert (project / "sub" / "kept").read_text(encoding="utf-8") == "x\n"
    assert f"{project}/secret" in run("sandbox", "explain")[1]
