"""A typing error in a rule is said wherever the rule comes from; in a denial it is an error."""

from __future__ import annotations

import json

import pytest

from tests.e2e.program import Program

pytestmark = pytest.mark.e2e

ASKED = ("-p", "say: hi", "--model", "demo")


@pytest.mark.parametrize("rule", ["Bsh", "Bsh(rm:*)", "Edit,Bsh"])
def test_a_denial_of_no_tool_starts_nothing(program: Program, rule: str) -> None:
    done = program.run(*ASKED, "--disallowedTools", rule)
    assert (done.returncode, done.stdout) == (2, "")
    assert "would forbid nothing. No tool is called Bsh. Did you mean Bash?" in done.stderr


def test_an_offer_of_no_tool_starts_nothing(program: Program) -> None:
    done = program.run(*ASKED, "--tools", "Read,Raed")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--tools Raed would offer nothing. No tool is called Raed. Did you mean" in done.stderr
    assert program.run(*ASKED, "--tools", "Read,Task,grep").stderr == ""
    assert program.run(*ASKED, "--tools", "default").stderr == ""
    assert program.run(*ASKED, "--tools", "core,read,WebFetch").stderr == ""


@pytest.mark.parametrize("rule", ["Agent", "Task", "mcp__github", "bash", "Skill(x)"])
def test_a_denial_of_what_others_have_starts(program: Program, rule: str) -> None:
    done = program.run(*ASKED, "--disallowedTools", rule)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("format", ["text", "json", "stream-json"])
def test_other_rules_are_said_and_the_session_goes_on(program: Program, format: str) -> None:
    own = program.home / ".gatewright" / "settings.json"
    settings = {"smallModel": "demo", "permissions": {"deny": ["Bsh"], "ask": ["Raed", "Agent"]}}
    own.write_text(json.dumps(settings), encoding="utf-8")
    done = program.run(*ASKED, "--allowedTools", "Bahs Edit", "--output-format", format)
    assert done.returncode == 0
    for text in (
        "agent: The deny rule 'Bsh' (user) forbids nothing. No tool is called Bsh. Did you mean",
        "agent: The ask rule 'Raed' (user) asks about nothing.",
        "agent: The allow rule 'Bahs' (cli) allows nothing.",
    ):
        assert text in done.stderr
    assert len(done.stderr.splitlines()) == 3


def test_the_doctor_and_the_list_of_rules_say_it(program: Program) -> None:
    own = program.home / ".gatewright" / "settings.json"
    own.write_text('{"permissions": {"deny": ["Bsh"]}}', encoding="utf-8")
    examined = program.run("doctor").stdout
    assert "!!  Rules      The deny rule 'Bsh' (user) forbids nothing." in examined
    assert "Correct that rule." in examined
    assert "Did you mean Bash?" in program.run("permissions", "list").stderr


def test_a_rule_is_looked_at_before_it_is_written(program: Program) -> None:
    denied = program.run("permissions", "add", "deny", "Bsh")
    assert denied.returncode == 2
    assert "deny Bsh would forbid nothing. No tool is called Bsh. Did you mean" in denied.stderr
    assert not (program.project / ".gatewright").exists()
    allowed = program.run("permissions", "add", "allow", "Bsh")
    assert allowed.returncode == 0
    assert "Did you mean Bash?" in allowed.stderr
