"""Stories about the session: going back, another model, another theme, another size, leaving."""

from __future__ import annotations

import json
import re

import pytest

from tests.e2e.program import Program
from tests.e2e.stage import MODEL, leave, say, screen, served, texts

pytestmark = pytest.mark.e2e

WRITE = 'call: Write {"file_path": "new.txt", "content": "made\\n"}\n---\n'
ACCEPT = ("--permission-mode", "acceptEdits")


def test_going_back_takes_files_and_words_back(program: Program) -> None:
    script = f"{WRITE}say: It is made.\n---\nsay: Otherwise, then.\n"
    with screen(program, script, *ACCEPT) as (terminal, server):
        say(terminal, "Make a file.")
        terminal.wait_for("It is made.")
        assert (program.project / "new.txt").exists()
        terminal.press("escape", "escape")
        terminal.wait_for("Make a file.", "1 file")
        terminal.press("enter")
        terminal.wait_for("Conversation and files", "See what would change")
        assert (program.project / "new.txt").exists(), "one key changes no file"
        terminal.press("enter")
        terminal.wait_gone("It is made.")
        terminal.wait_for("\u276f Make a file.")
        assert not (program.project / "new.txt").exists()
        terminal.send(" Or not.\r")
        terminal.wait_for("Otherwise, then.")
        assert texts(server.bodies[-1], "assistant") == []
        assert "Make a file. Or not." in texts(server.bodies[-1])


def test_another_model_answers_the_next_message(program: Program) -> None:
    with screen(program, "say: One.\n---\nsay: Two.\n") as (terminal, server):
        say(terminal, "First.")
        terminal.wait_for("One.")
        say(terminal, "/model anthropic/claude-opus-5-5")
        terminal.wait_for("Model: anthropic/claude-opus-5-5")
        say(terminal, "Second.")
        terminal.wait_for("Two.")
        models = [body["model"] for body in server.bodies]
        assert [model.split("-")[1] for model in models] == ["sonnet", "opus"]
        assert len(server.bodies[-1]["messages"]) == 3, "the conversation went along"


def test_a_theme_is_seen_at_once_and_kept(program: Program) -> None:
    def grounds(raw: bytearray) -> set[bytes]:
        return set(re.findall(rb"48;2;[0-9;]+", bytes(raw)))

    with screen(program, "say: x\n") as (terminal, _):
        dark = grounds(terminal.raw)
        say(terminal, "/theme light")
        terminal.wait_for("Theme: light")
        fresh = grounds(terminal.raw) - dark
        assert fresh, "other colours are painted"
        say(terminal, "/exit")
        assert terminal.wait_exit() == 0
    settings = json.loads((program.home / ".gatewright" / "settings.json").read_text("utf-8"))
    assert settings["ui"]["theme"] == "light"
    assert settings["smallModel"] == "demo", "nothing else was touched"
    with screen(program, "say: x\n") as (terminal, _):
        assert grounds(terminal.raw) & fresh
        assert not grounds(terminal.raw) & (dark - fresh)


def test_all_modes_and_back(program: Program) -> None:
    with screen(program, "say: x\n") as (terminal, _):
        terminal.wait_until(lambda text: _mode(text.splitlines()) == "default")
        seen = [_mode(terminal.screen())]
        while len(seen) < 2 or seen[-1] != seen[0]:
            terminal.press("shift+tab")
            before = seen[-1]
            terminal.wait_until(lambda text: _mode(text.splitlines()) != before)  # noqa: B023
            seen.append(_mode(terminal.screen()))
            assert len(seen) < 8, seen
        modes = ["default", "acceptEdits", "autoInProject", "plan", "default"]
        assert seen == modes


def test_a_mode_chosen_before_the_session_is_there(program: Program) -> None:
    with program.terminal("--model", "demo") as terminal:
        terminal.wait_for("Ask anything")
        terminal.press("shift+tab")
        terminal.wait_for("acceptEdits", "demo")


def _mode(rows: list[str]) -> str:
    last = next(row for row in reversed(rows) if row.strip())
    return last.split()[0]


def test_leaving_tells_the_way_back_and_the_way_back_works(program: Program) -> None:
    with screen(program, "say: The answer is 42.\n---\nsay: Still 42.\n") as (terminal, server):
        say(terminal, "What is it?")
        terminal.wait_for("The answer is 42.")
        session = leave(terminal)
        farewell = terminal.text()
        assert "> What is it?" in farewell
        assert "The answer is 42." in farewell
        with program.terminal("--continue", env=served(server)) as resumed:
            resumed.wait_for("What is it?", "The answer is 42.", MODEL, "tokens")
            say(resumed, "Sure?")
            resumed.wait_for("Still 42.")
            assert leave(resumed) == session


def test_the_tour_on_a_tiny_screen(program: Program) -> None:
    """40 by 10: a question, an answer, a command and its end are all read and reached."""
    script = f"{WRITE}say: It is made.\n"
    with screen(program, script, rows=10, columns=40) as (terminal, _):
        say(terminal, "Make a file.")
        terminal.wait_for("Yes, once", "new.txt")
        terminal.press_until_gone("y", "Yes, once")
        terminal.wait_for("It is made.", "Ask anything")
        say(terminal, "/mode")
        terminal.wait_for("plan")
        terminal.press("escape")
        terminal.wait_for("It is made.")
        terminal.press("shift+tab")
        terminal.wait_for("acceptEdits")
        terminal.send("/he")
        terminal.wait_for("/help")
        terminal.press("escape", "ctrl+c")
        terminal.wait_for("Ask anything")
        terminal.resize(30, 100)
        terminal.wait_for("Make a file.", "It is made.", MODEL)
        leave(terminal)
