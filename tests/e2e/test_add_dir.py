"""A directory beside the project, opened while a session runs, in a real terminal."""

from __future__ import annotations

import json

import pytest

from tests.e2e.program import Program
from tests.e2e.stage import say, screen

pytestmark = pytest.mark.e2e


def test_an_edit_in_an_opened_directory_is_like_one_in_the_project(program: Program) -> None:
    beside = program.project.parent / "beside"
    beside.mkdir()
    path = beside / "new.txt"
    write = json.dumps({"file_path": str(path), "content": "made\n"})
    look = json.dumps({"command": f"ls {beside}"})
    script = "\n---\n".join(
        (
            f"call[a]: Write {write}",
            "say: Refused.",
            f"call[b]: Write {write}",
            f"call[c]: Bash {look}",
            "say: All done.",
        )
    )
    with screen(program, script, "--permission-mode", "acceptEdits") as (terminal, _):
        say(terminal, "Make it.")
        terminal.wait_for("Yes, once")
        terminal.press_until_gone("n", "Yes, once")
        assert not path.exists(), "it is outside"
        say(terminal, "And now?")
        terminal.wait_for("Refused.")
        say(terminal, "/add-dir ../beside")
        terminal.wait_for("Open to this session")
        say(terminal, "Again.")
        shown = terminal.wait_for("All done.")
        assert "Yes, once" not in shown
        assert path.read_text(encoding="utf-8") == "made\n"
        say(terminal, "/permissions")
        terminal.wait_for("directories 2", "esc closes")
        terminal.press("escape")
        terminal.wait_gone("esc closes")
