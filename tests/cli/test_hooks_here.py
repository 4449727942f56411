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


def test_a_check_says_why_hooks_are_off(program: Program) -> None:
    path = program.project / ".gatewright" / "settings.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(hooks("Stop", command("true"))), encoding="utf-8")
    found = program.run("hooks", "check").stdout
    assert "in force: 0, off: 1 (the project is not trusted)." in found


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


def test_a_trial_says_what_comes_of_it(program: Program) -> None:
    allow = command(says(part("PermissionRequest", decision={"behavior": "allow"})))
    stays = command(says({"decision": "block", "reason": "test it"}))
    asks = {"type": "prompt", "prompt": "Fine?"}
    both = hooks("PermissionRequest", allow)["hooks"] | hooks("Stop", stays, asks)["hooks"]
    own(program, {"hooks": both})
    found = program.run("hooks", "test", "PermissionRequest").stdout
    assert "Effect: Allowed, where no rule says otherwise.\n" in found
    found = program.run("hooks", "test", "Stop").stdout
    assert "Effect: The turn goes on. test it" in found
    assert "exit None" not in found


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ('{"tool_input": "x"}', "The tool_input of the event is no object."),
        ('{"a":' * 100_000, "is no JSON object: maximum recursion depth"),
        ("[]", "is no JSON object: Expected `object`, got `array`."),
    ],
    ids=["text", "deep", "list"],
)
def test_a_trial_with_an_input_that_is_none(program: Program, given: str, told: str) -> None:
    own(program, hooks("PreToolUse", command("true")))
    found = program.run("hooks", "test", "PreToolUse", "--input", "-", input=given)
    assert found.returncode == 42
    assert told in found.stderr
    assert "Traceback" not in found.stderr
