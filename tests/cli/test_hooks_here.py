"""`agent hooks`: lists, checks and tries what a session here would have."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.e2e.program import Program
from tests.hooks.scripts import command, hooks, part, says

pytestmark = pytest.mark.e2e


def own(program: Program, values: dict[str, Any]) -> None:
    path = program.home / ".gatewright" / "settings.json"
    path.write_text(json.dumps(values, indent=1), encoding="utf-8")


def test_a_list(program: Program) -> None:
    own(program, hooks("PreToolUse", command("true"), matcher="Bash"))
    found = program.run("hooks", "list")
    assert "PreToolUse Bash  command  true" in found.stdout
    (row,) = json.loads(program.run("hooks", "list", "--json").stdout)
    assert (row["event"], row["state"], row["source"]) == ("PreToolUse", "ready", "user")
    assert row["line"] > 1


def test_a_check_fails_where_something_will_not_run(program: Program) -> None:
    own(program, hooks("Stop", command("true")))
    assert program.run("hooks", "check").returncode == 0
    own(program, hooks("Stop", command("./nope.sh"), {"type": "commando", "command": "x"}))
    found = program.run("hooks", "check")
    assert found.returncode == 1
    assert "./nope.sh, which is not there" in found.stdout
    assert "did you mean command" in found.stdout
    assert "./nope.sh" in program.run("doctor").stdout


def test_a_trial(program: Program) -> None:
    deny = part("PreToolUse", permissionDecision="deny", permissionDecisionReason="not here")
    own(program, hooks("PreToolUse", command(says(deny)), matcher="Bash"))
    found = program.run("hooks", "test", "PreToolUse").stdout
    assert "decides deny" in found
    assert "Effect: Refused." in found
    found = program.run("hooks", "test", "PreToolUse", "--value", "Read").stdout
    assert "its matcher 'Bash' is not 'Read'" in found
    assert "No hook hears" in found
    assert "PreToolUsed" in program.run("hooks", "test", "PreToolUsed").stderr


def test_a_trial_with_an_input_of_ones_own(program: Program) -> None:
    log = program.project / "log"
    about = command(f"cat > {log}", **{"if": "Bash(git *)"})
    own(program, hooks("PreToolUse", about, matcher="Bash"))
    given = json.dumps({"tool_name": "Bash", "tool_input": {"command": "git status"}})
    assert (
        "+ "
        in program.run("hooks", "test", "PreToolUse", "--input", "-", "--dry", input=given).stdout
    )
    assert not log.exists()
    program.run("hooks", "test", "PreToolUse", "--input", "-", input=given)
    assert json.loads(log.read_text(encoding="utf-8"))["tool_input"]["command"] == "git status"
    log.unlink()
    found = program.run("hooks", "test", "PreToolUse").stdout
    assert "not one that `if` Bash(git *) is about" in found
    assert not log.exists()
