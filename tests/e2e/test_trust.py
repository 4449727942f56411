"""A repository nobody vouched for, opened in a real terminal."""

from __future__ import annotations

import json

import pytest

from tests.e2e.program import Program

pytestmark = pytest.mark.e2e

ACTING = {"env": {"MARK": "1"}, "permissions": {"allow": ["Bash(make)"]}}


def acting(program: Program) -> None:
    folder = program.project / ".gatewright"
    folder.mkdir()
    (folder / "settings.json").write_text(json.dumps(ACTING), encoding="utf-8")


def test_leaving_at_the_question_ends_the_program(program: Program) -> None:
    acting(program)
    with program.terminal("--model", "demo") as terminal:
        shown = terminal.wait_for("Do you trust", "Leave")
        assert "Bash(make)" in shown
        terminal.press_until_gone("q", "Do you trust")
        assert terminal.wait_exit() == 0
    assert not list(program.home.rglob("trust.json"))


def test_trust_is_asked_once(program: Program) -> None:
    acting(program)
    with program.terminal("--model", "demo") as terminal:
        terminal.wait_for("Do you trust")
        terminal.press_until_gone("y", "Do you trust")
        terminal.wait_for("agent trust remove")
    stored = next(program.home.rglob("trust.json")).read_text(encoding="utf-8")
    assert str(program.project) in stored
    with program.terminal("--model", "demo") as terminal:
        shown = terminal.wait_for("Ask anything", "demo")
        assert "Do you trust" not in shown


def test_the_line_front_end_lets_go_too(program: Program) -> None:
    acting(program)
    done = program.run("--plain", "--model", "demo", input="q\n")
    assert done.returncode == 0
    assert "Do you trust" in done.stdout


def test_the_end_of_input_answers_no_question_and_waits_for_none(program: Program) -> None:
    acting(program)
    done = program.run("--plain", "--model", "demo", input="")
    assert done.returncode == 0
    assert not list(program.home.rglob("trust.json"))
