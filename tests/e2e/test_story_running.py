"""Stories about work that runs: stopping a command for good, steering, waiting in the queue."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.program import Program
from tests.e2e.stage import MODEL, say, screen, served, texts
from tests.fakes.model_server import ServerThread
from tests.fakes.waiting import until, written

pytestmark = pytest.mark.e2e

BYPASS = ("--permission-mode", "bypassPermissions")


def running(command: str) -> str:
    return f"call: Bash {json.dumps({'command': command})}\n---\n"


def test_stopping_a_command_ends_all_of_it(program: Program) -> None:
    """The shell, its child in the background, and no turn afterwards."""
    program.unconfined()
    command = "sleep 60 & echo $! > child; echo $$ > shell; wait"
    script = running(command) + "say: Here again.\n"
    with screen(program, script, *BYPASS) as (terminal, server):
        say(terminal, "Wait.")
        pids = [written_number(program.project / name) for name in ("child", "shell")]
        assert all(map(_lives, pids))
        terminal.press("escape")
        terminal.wait_for("Interrupted")
        until_gone(pids)
        assert len(server.bodies) == 1
        say(terminal, "Still there?")
        terminal.wait_for("Here again.")


def test_what_is_typed_meanwhile_steers_the_turn(program: Program) -> None:
    """It waits in sight and is in the very next request, behind the result of the command."""
    program.unconfined()
    script = running("until [ -e go ]; do sleep 0.05; done") + "say: Blue it is.\n"
    with screen(program, script, *BYPASS) as (terminal, server):
        say(terminal, "Paint it.")
        terminal.wait_for("until [ -e go ]", "esc to stop")
        terminal.send("Make it blue.\r")
        terminal.wait_for("\u21b3 Make it blue.")  # sent, and no draft any more
        assert len(server.bodies) == 1
        (program.project / "go").touch()
        terminal.wait_for("Blue it is.")
        assert len(server.bodies) == 2
        assert "Make it blue." in "".join(texts(server.bodies[1])[-1:])


def test_what_waits_can_be_taken_back(program: Program) -> None:
    with screen(program, "say: Thinking\nwait: gate\n---\nsay: Done.\n") as (terminal, server):
        say(terminal, "Think.")
        terminal.wait_for("Thinking", "esc to stop")
        terminal.send("And then?\r")
        terminal.wait_for("\u21b3 And then?")
        terminal.press("escape")
        terminal.wait_for("Interrupted", "\u276f And then?")
        terminal.send(" Quickly.\r")
        terminal.wait_for("Done.")
        assert "And then? Quickly." in texts(server.bodies[-1])


def written_number(path: Path) -> int:
    return int(written(path))


def _lives(pid: int) -> bool:
    """A zombie has nobody left to wait for it here, but it runs no more."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text("utf-8")
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def until_gone(pids: list[int]) -> None:
    until(lambda: not any(map(_lives, pids)), what="the end of the command")


def test_what_a_stopped_command_had_printed_stays(program: Program) -> None:
    """In sight, and for the model."""
    program.unconfined()
    script = running("echo half of it; sleep 60") + "say: I saw half of it.\n"
    with screen(program, script, *BYPASS) as (terminal, server):
        say(terminal, "Do it.")
        terminal.wait_for("    half of it")
        terminal.press("escape")
        shown = terminal.wait_for("Interrupted", "interrupted")
        assert "    half of it" in shown
        say(terminal, "What did it say?")
        terminal.wait_for("I saw half of it.")
        assert any(text.startswith("half of it") for text in texts(server.bodies[-1]))


BUSY = 'status: 429 retry_after=4 body={"error": {"message": "slow down"}}\n---\nsay: Now.\n'


def test_a_wait_for_the_server_counts_down(program: Program) -> None:
    with screen(program, BUSY) as (terminal, _):
        say(terminal, "Hi.")
        shown = terminal.wait_for("limits the rate of requests (429): slow down.", "again in 4 s")
        assert "{" not in shown
        terminal.wait_for("again in 3 s")
        terminal.wait_for("again in 2 s")
        terminal.wait_for("Now.")


def test_print_mode_says_that_it_waits_and_how_long(program: Program) -> None:
    with ServerThread(BUSY) as server:
        done = program.run("-p", "Hi.", "--model", MODEL, env=served(server))
    assert done.stdout == "Now.\n"
    assert done.stderr.count("(429): slow down. Trying again in 4 s (1 of 11).\n") == 1


def test_a_missing_file_is_a_short_sentence(program: Program) -> None:
    script = 'call: Read {"file_path": "note.txt"}\n---\nsay: It is not there.\n'
    with screen(program, script) as (terminal, server):
        say(terminal, "Read it.")
        shown = terminal.wait_for("It is not there.", "not found")
        assert "There is no note.txt. Near names there: notes.txt." in shown
        assert "The current directory is" not in shown, "that is for the model"
        assert "The current directory is" in "".join(texts(server.bodies[-1]))
