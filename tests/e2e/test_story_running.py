"""Stories about work that runs: stopping a command for good, steering, waiting in the queue."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from tests.e2e.program import Program
from tests.e2e.stage import say, screen, texts

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(30)]

LIMIT = 10.0
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
        terminal.wait_for("Make it blue.")
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
        terminal.wait_for("And then?")
        terminal.press("escape")
        terminal.wait_for("Interrupted", "\u276f And then?")
        terminal.send(" Quickly.\r")
        terminal.wait_for("Done.")
        assert "And then? Quickly." in texts(server.bodies[-1])


def written_number(path: Path) -> int:
    end = time.monotonic() + LIMIT
    while not (path.exists() and path.read_text("utf-8").strip()):
        assert time.monotonic() < end, f"{path} does not come"
        time.sleep(0.01)
    return int(path.read_text("utf-8"))


def _lives(pid: int) -> bool:
    """A zombie has nobody left to wait for it here, but it runs no more."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text("utf-8")
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def until_gone(pids: list[int]) -> None:
    end = time.monotonic() + LIMIT
    while any(map(_lives, pids)):
        assert time.monotonic() < end, "the command lives on"
        time.sleep(0.01)
