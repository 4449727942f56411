"""The program over a demo list: printed, on a screen, killed at any moment and begun again."""

from __future__ import annotations

import json
import os
import signal

import pytest

from gatewright.agent.autonomy.project.project_file import ProjectFile
from tests.e2e.program import Program
from tests.e2e.stage import MODEL, leave, say, screen, served
from tests.fakes.model_server import ServerThread
from tests.fakes.waiting import PATIENCE, until
from tests.project.ground import git, repository
from tests.project.test_going_on import CLOSED, stands_open
from tests.project.test_in_session import FAIL, done, touch

pytestmark = pytest.mark.e2e
AUTO = ("-p", "--trust", "--model", MODEL, "--auto-continue")


def prepared(program: Program) -> ProjectFile:
    program.unconfined()
    file = repository(program.project)
    git(program.project, "add", "notes.txt")
    git(program.project, "commit", "-qm", "notes")
    return file


def script(*answers: str) -> str:
    return "\n---\n".join(answers)


def states(file: ProjectFile) -> list[str]:
    return [each.state for each in file.read().features]


def test_printed_it_does_the_list(program: Program) -> None:
    file = prepared(program)
    with ServerThread(script(*done("f1"), *done("f2"))) as server:
        ran = program.run(*AUTO, env=served(server))
    assert ran.returncode == 0, ran.stderr
    assert "2 done" in ran.stderr or states(file) == ["done", "done"]
    assert states(file) == ["done", "done"]
    assert git(program.project, "log", "-2", "--format=%s") == "Feature 2\nFeature 1\n"


def test_printed_a_command_is_followed_to_its_end(program: Program) -> None:
    file = prepared(program)
    answers = [touch("f1"), "say: done", FAIL, "say: r", FAIL, "say: r", FAIL, *done("f2")]
    with ServerThread(script(*answers)) as server:
        argv = ("-p", "--trust", "--model", MODEL, "/project auto")
        ran = program.run(*argv, env=served(server))
    assert ran.returncode == 0, ran.stderr
    assert "Blocked: f1" in ran.stderr
    assert states(file) == ["blocked", "done"]


def test_printed_a_limit_is_exit_53(program: Program) -> None:
    prepared(program)
    with ServerThread(script(*done("f1"))) as server:
        ran = program.run(*AUTO, "--max-turns", "2", env=served(server))
    assert ran.returncode == 53, ran.stderr
    assert "--max-turns" in ran.stderr


def test_printed_a_goal_is_gone_on_with(program: Program) -> None:
    answers = script("say: begun", stands_open("Finish it"), "say: finished", CLOSED)
    with ServerThread(answers) as server:
        ran = program.run(*AUTO, "reach it", env=served(server))
        asked = len(server.bodies)
    assert (ran.returncode, ran.stdout.strip(), asked) == (0, "finished", 4), ran.stderr


@pytest.mark.parametrize("format", ["json", "stream-json"])
def test_printed_as_json_it_is_followed_too(program: Program, format: str) -> None:
    file = prepared(program)
    with ServerThread(script(*done("f1"), *done("f2"))) as server:
        ran = program.run(*AUTO, "--output-format", format, env=served(server))
    assert ran.returncode == 0, ran.stderr
    assert states(file) == ["done", "done"]
    assert json.loads(ran.stdout.splitlines()[-1])["type"] == "result"


def test_killed_while_it_works_the_next_goes_on(program: Program) -> None:
    """Nothing is cleaned up, and the session is in the mode it was in before."""
    file = prepared(program)
    hanging = 'call[k]: Bash {"command": "touch begun; sleep 600"}'
    with ServerThread(script(hanging)) as server:
        running = program.start("-p", "--trust", "--model", MODEL, "--mode", "acceptEdits",
                                "/project auto", env=served(server))  # fmt: skip
        try:
            until((program.project / "begun").exists)
        finally:
            os.kill(running.pid, signal.SIGKILL)
            running.communicate(timeout=PATIENCE)
    assert states(file) == ["doing", "pending"]
    with ServerThread(script(*done("f1"), *done("f2"), "say: hello")) as server:
        ran = program.run("-p", "--trust", "--model", MODEL, "/project auto", env=served(server))
        assert ran.returncode == 0, ran.stderr
        assert states(file) == ["done", "done"]
        assert "begun" in git(program.project, "show", "--name-only", "HEAD~1"), "its work is kept"
        first = program.transcripts()[0]
        ran = program.run("-p", "--trust", "--resume", str(first), "--output-format", "stream-json",
                          "hi", env=served(server))  # fmt: skip
    began = json.loads(ran.stdout.splitlines()[0])
    assert began["permissionMode"] == "acceptEdits", ran.stderr


def test_on_a_screen_it_is_begun_stopped_and_gone_on_with(program: Program) -> None:
    file = prepared(program)
    answers = script("say: slowly now\nhang:", *done("f1"), *done("f2"))
    with screen(program, answers, "--trust") as (terminal, _):
        say(terminal, "/project list")
        terminal.wait_for("Feature 1", "waits")
        say(terminal, "/project auto")
        terminal.wait_for("slowly now", "autoInProject")
        terminal.press("escape")
        terminal.wait_for("You stopped it.")
        terminal.wait_gone("autoInProject")
        assert states(file) == ["doing", "pending"]
        say(terminal, "/project auto --confirm")
        for id in ("f1", "f2"):
            terminal.wait_for(f"Begin {id}")
            terminal.press_until_gone("y", f"Begin {id}")
        terminal.wait_for("2 done")
        terminal.wait_gone("autoInProject")
        leave(terminal)
    assert states(file) == ["done", "done"]


def test_on_a_screen_a_list_is_drawn_up_and_shown(program: Program) -> None:
    program.unconfined()
    step = {"title": "Say hello", "acceptance": "It says hello", "check": "test -e hello"}
    plan = f"say: {json.dumps({'features': [step]})}"
    with screen(program, plan, "--trust") as (terminal, _):
        say(terminal, "/project init A greeting")
        terminal.wait_for("Write this list", "Say hello", "test -e hello")
        terminal.press_until_gone("y", "Write this list")
        terminal.wait_for("/project next does the first")
    assert ProjectFile(program.project).read().goal == "A greeting"


def test_without_a_list_a_line_says_what_to_do(program: Program) -> None:
    ran = program.run("-p", "--trust", "--model", "demo", "/project auto")
    assert "/project init GOAL" in ran.stdout
