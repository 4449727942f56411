"""A command that takes long goes to the background, and the conversation goes on without it."""

from __future__ import annotations

import pytest

from tests.e2e.program import Program
from tests.e2e.stage import choose, leave, say, screen, texts

pytestmark = pytest.mark.e2e

COMMAND = "echo begun; until [ -e go ]; do sleep 0.05; done; echo over"
SCRIPT = f"""say: I will build it.
call[c1]: Bash {{"command": "{COMMAND}"}}
---
say: Meanwhile I look around.
---
say: The build has ended.
---
say: Good bye.
"""


@pytest.mark.parametrize("confined", [True, False], ids=["sandbox", "no-sandbox"])
def test_ctrl_b_lets_a_command_go_on(program: Program, *, confined: bool) -> None:
    if not confined:
        program.unconfined()
    with screen(program, SCRIPT, columns=120) as (terminal, server):
        say(terminal, "Build it.")
        terminal.wait_for("Yes, once")
        choose(terminal, "y")
        terminal.wait_for("begun", "ctrl+b to background")
        terminal.press("ctrl+b")
        terminal.wait_for("Meanwhile I look around.", "1 in background")
        told = "\n".join(texts(server.bodies[1]))
        assert "begun" in told and "goes on as task shell_1" in told and "TaskStop" in told

        say(terminal, "/tasks")
        terminal.wait_for("Last line", "running", "begun")
        terminal.press("enter")
        terminal.wait_for("$ echo begun", "shell_1: running", "v opens an editor")
        terminal.press("q")
        terminal.wait_for("esc closes")
        terminal.press_until_gone("escape", "esc closes")

        (program.project / "go").touch()
        terminal.wait_for("The build has ended.")
        terminal.wait_gone("1 in background")
        say(terminal, "Thank you.")
        terminal.wait_for("Good bye.")
        said = "\n".join(texts(server.bodies[-1]))
        assert said.count("Background shell shell_1") == 1, "its end is told once"
        (kept,) = program.home.rglob("spill/bash-*.txt")
        assert kept.read_text(encoding="utf-8") == "begun\nover\n"
        leave(terminal)
