"""kill -9 in the middle of a tool call: nothing that happened is lost, and the session goes on."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.program import Program
from tests.fakes.model_server import ModelServer, ServerThread
from tests.fakes.waiting import PATIENCE, written

MODEL = "anthropic/claude-sonnet-5-5"
SCRIPT = """
say: I will run it.
call[c1]: Bash {"command": "echo $$ > pid; exec sleep 30", "description": "Wait"}
call[c2]: Read {"file_path": "notes.txt"}
---
say: I see that it was interrupted.
"""

pytestmark = pytest.mark.e2e


@pytest.fixture
def program(program: Program) -> Program:
    """What is killed is the program as a person starts it."""
    return program.cold


def keys(server: ModelServer) -> dict[str, str]:
    return {"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": "secret"}


@pytest.fixture
def running(program: Program) -> Iterator[Path]:
    """The file in which the command of the script says that it runs; ends the command."""
    path = program.project / "pid"
    yield path
    if path.exists():
        # The program was killed and could not end what it had started.
        with_limit = int(path.read_text(encoding="utf-8"))
        subprocess.run(["kill", "-9", str(with_limit)], capture_output=True, check=False)


def assert_valid(messages: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Roles alternate and each call is answered at once; returns the results by call."""
    roles = [message["role"] for message in messages]
    assert roles[0] == "user"
    assert all(a != b for a, b in itertools.pairwise(roles)), roles
    found: dict[str, dict[str, Any]] = {}
    for message, following in itertools.pairwise(messages):
        calls = [b["id"] for b in message["content"] if b["type"] == "tool_use"]
        results = [b for b in following["content"] if b["type"] == "tool_result"]
        assert [result["tool_use_id"] for result in results] == calls
        found |= {result["tool_use_id"]: result for result in results}
    return found


def test_print_mode_goes_on(program: Program, running: Path) -> None:
    with ServerThread(SCRIPT) as server:
        arguments = ["-p", "Run it.", "--model", MODEL, "-y"]
        process = program.start(*arguments, env=keys(server))
        with process:
            written(running)
            os.kill(process.pid, signal.SIGKILL)
            process.communicate(timeout=PATIENCE)
        assert process.returncode == -signal.SIGKILL

        done = program.run("-p", "What happened?", "--continue", env=keys(server))
        assert (done.returncode, done.stdout) == (0, "I see that it was interrupted.\n"), (
            done.stderr
        )
        messages = server.bodies[-1]["messages"]
    results = assert_valid(messages)
    assert list(results) == ["c1", "c2"]
    assert all(result["is_error"] for result in results.values())
    assert "interrupted" in str(results["c1"]["content"]).lower()
    assert messages[0]["content"][0]["text"] == "Run it."
    assert messages[-1]["content"][-1]["text"] == "What happened?"
    assert len(program.transcripts()) == 1


def test_the_screen_goes_on(program: Program, running: Path) -> None:
    with ServerThread(SCRIPT) as server:
        with program.terminal("--model", MODEL, env=keys(server)) as terminal:
            terminal.wait_for("Ask anything")
            terminal.send("Run it.")
            terminal.press("enter")
            terminal.wait_for("Yes, once")
            terminal.press_until_gone("y", "Yes, once")
            written(running)
            terminal.kill(signal.SIGKILL)
            assert terminal.wait_exit() == -signal.SIGKILL

        with program.terminal("--continue", env=keys(server)) as terminal:
            terminal.wait_for("Run it.", "I will run it.", "echo $$ > pid", "interrupted")
            terminal.send("What happened?")
            terminal.press("enter")
            terminal.wait_for("I see that it was interrupted.")
        messages = server.bodies[-1]["messages"]
    results = assert_valid(messages)
    assert list(results) == ["c1", "c2"]
    assert messages[-1]["content"][-1]["text"] == "What happened?"


def test_a_torn_last_line_is_no_obstacle(program: Program) -> None:
    with ServerThread("say: One.\n---\nsay: Two.\n") as server:
        assert program.run("-p", "First.", "--model", MODEL, env=keys(server)).returncode == 0
        (path,) = program.transcripts()
        with path.open("ab") as file:
            file.write(b'{"type":"assistant","id":"msg_9","par')
        done = program.run("-p", "Second.", "--continue", env=keys(server))
        assert (done.returncode, done.stdout) == (0, "Two.\n"), done.stderr
        messages = server.bodies[-1]["messages"]
    assert_valid(messages)
    assert [m["content"][0]["text"] for m in messages] == ["First.", "One.", "Second."]


WAITING = "say: The answer is not\nwait: gate\n---\nsay: All of it.\n"


def test_an_answer_that_was_cut_off_is_said_to_be(program: Program) -> None:
    """And only then: neither an answer that came whole, nor one that the person stopped."""
    told = "The last answer was cut off"
    with ServerThread(WAITING) as server:
        with program.terminal("--model", MODEL, env=keys(server)) as terminal:
            terminal.wait_for("Ask anything")
            terminal.send("What is it?")
            terminal.press("enter")
            terminal.wait_for("The answer is not")
            terminal.kill(signal.SIGKILL)
            terminal.wait_exit()
        with program.terminal("--continue", env=keys(server)) as terminal:
            terminal.wait_for("What is it?", told)
            terminal.send("Go on.")
            terminal.press("enter")
            terminal.wait_for("All of it.")
            terminal.kill(signal.SIGKILL)
            terminal.wait_exit()
        with program.terminal("--continue", env=keys(server)) as terminal:
            shown = terminal.wait_for("All of it.", "Ask anything")
            assert shown.count(told) == 1, "it was true once"
    assert not list(program.home.rglob("*.turn"))


def test_an_answer_that_the_person_stopped_was_not_cut_off(program: Program) -> None:
    with ServerThread(WAITING) as server:
        with program.terminal("--model", MODEL, env=keys(server)) as terminal:
            terminal.wait_for("Ask anything")
            terminal.send("What is it?")
            terminal.press("enter")
            terminal.wait_for("The answer is not")
            terminal.press("escape")
            terminal.wait_for("Interrupted")
            terminal.kill(signal.SIGKILL)
            terminal.wait_exit()
        with program.terminal("--continue", env=keys(server)) as terminal:
            assert "The last answer was cut off" not in terminal.wait_for("What is it?", MODEL)
