"""A command that takes long goes to the background, and the conversation goes on without it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.program import Program
from tests.e2e.test_screen import say, screen
from tests.fakes.terminal import Terminal

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(40)]

COMMAND = "echo begun; until [ -e go ]; do sleep 0.05; done; echo over > done.txt; echo over"
SCRIPT = f"""say: I will build it.
call[c1]: Bash {{"command": "{COMMAND}"}}
---
say: Meanwhile I look around.
---
say: The build is over.
---
say: Good bye.
"""


def _texts(value: Any) -> list[str]:
    match value:
        case str():
            return [value]
        case Mapping():
            return [text for item in value.values() for text in _texts(item)]
        case list():
            return [text for item in value for text in _texts(item)]
        case _:
            return []


def _until(path: Path) -> None:
    deadline = time.monotonic() + 10
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} does not appear"
        time.sleep(0.02)


def _allow(terminal: Terminal) -> None:
    terminal.wait_for("Yes, once")
    terminal.press_until_gone("y", "Yes, once")


@pytest.mark.parametrize("confined", [True, False], ids=["sandbox", "no-sandbox"])
def test_ctrl_b_lets_a_command_go_on(program: Program, *, confined: bool) -> None:
    if not confined:
        program.unconfined()
    with screen(program, SCRIPT, "--allowed-tools", "Bash") as (terminal, server):
        say(terminal, "Build it.")
        terminal.wait_for("begun", "ctrl+b to background")
        terminal.press("ctrl+b")
        terminal.wait_for("Meanwhile I look around.", "1 in background")
        assert not (program.project / "done.txt").exists(), "it still waits"
        (program.project / "go").touch()
        terminal.wait_for("The build is over.")
        terminal.wait_gone("1 in background")
        _until(program.project / "done.txt")
        told = "\n".join(_texts(server.bodies[1]["messages"]))
        assert "begun" in told and "goes on as task shell_1" in told and "TaskStop" in told
        say(terminal, "Thank you.")
        terminal.wait_for("Good bye.")
        said = "\n".join(_texts(server.bodies[-1]["messages"]))
        assert said.count("Background shell shell_1") == 1, "its end is told once"
        (kept,) = program.home.rglob("spill/bash-*.txt")
        assert kept.read_text(encoding="utf-8") == "begun\nover\n"
        say(terminal, "/exit")
        assert terminal.wait_exit() == 0
