"""Stories about the prompt: pastes, files, own commands, memory, the past, another editor."""

from __future__ import annotations

import sys

import pytest

from tests.e2e.program import Program
from tests.e2e.stage import leave, say, screen, texts
from tests.fakes.model_server import ServerThread
from tests.fakes.terminal import SIGN

pytestmark = pytest.mark.e2e


def test_five_thousand_lines_are_a_chip_here_and_whole_there(program: Program) -> None:
    pasted = "\n".join(f"line {number} of the log" for number in range(5000))
    with screen(program, "say: A long one.\n") as (terminal, server):
        terminal.send("Look: ")
        terminal.paste(pasted)
        shown = terminal.wait_for("[Pasted 5000 lines #1]")
        assert "line 4999" not in shown
        terminal.press("enter")
        terminal.wait_for("A long one.")
        assert f"Look: {pasted}" in texts(server.bodies[-1])


def test_a_file_that_is_named_is_attached(program: Program) -> None:
    with screen(program, "say: Two lines.\n") as (terminal, server):
        terminal.send("Count @not")
        terminal.wait_for("notes.txt")
        terminal.press("tab")
        terminal.wait_for(f"{SIGN} Count @notes.txt")
        terminal.press("enter")
        terminal.wait_for("Two lines.")
        said = texts(server.bodies[-1])
        assert any("alpha" in text and "beta" in text for text in said), said


def test_what_is_piped_in_names_no_file_to_send(program: Program) -> None:
    """An issue, a log, a page: whoever wrote it does not choose what the model is sent."""
    (program.home / "key").write_text("KEY-77", encoding="utf-8")
    with ServerThread("say: ok\n---\nsay: ok\n") as server:
        env = {"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": "k"}
        model = ("--model", "anthropic/claude-sonnet-5-5")
        ran = program.run(
            "-p", "see @notes.txt", "--verbose", *model, env=env, input="and @~/key\n"
        )
        said = "".join(texts(server.bodies[-1]))
        assert "alpha" in said
        assert "KEY-77" not in said
        assert "Not attached: @~/key." in ran.stderr
        ran = program.run("-p", *model, env=env, input="see @notes.txt\n")
        assert "alpha" not in "".join(texts(server.bodies[-1]))
        assert "Not attached: @notes.txt." in ran.stderr, "who meant it must know"


def test_an_own_command_is_told_with_the_next_message(program: Program) -> None:
    with screen(program, "say: I see it.\n") as (terminal, server):
        say(terminal, "!echo out-$((40+2)); exit 3")
        terminal.wait_for("out-42", "exit 3")
        assert not server.bodies, "it asks nobody and tells nobody yet"
        say(terminal, "What happened?")
        terminal.wait_for("I see it.")
        told = next(text for text in texts(server.bodies[-1]) if "out-42" in text)
        assert "$ echo out-$((40+2)); exit 3" in told


def test_a_line_for_the_memory(program: Program) -> None:
    with screen(program, "say: Tabs, then.\n") as (terminal, server):
        say(terminal, "# we indent by tabs")
        terminal.wait_for("AGENTS.md")
        kept = (program.project / "AGENTS.md").read_text("utf-8")
        assert "we indent by tabs" in kept
        assert not server.bodies


def test_finding_what_was_sent_before(program: Program) -> None:
    """Also what another session here sent, by any part of it."""
    with screen(program, "say: One.\n---\nsay: Two.\n") as (terminal, _):
        say(terminal, "Mend the parser.")
        terminal.wait_for("One.")
        say(terminal, "Write the notes.")
        terminal.wait_for("Two.")
        leave(terminal)
    with screen(program, "say: Once more.\n") as (terminal, server):
        terminal.press("ctrl+r")
        terminal.wait_for("Sent before", "Mend the parser.", "Write the notes.")
        terminal.send("pars")
        terminal.wait_for(f"{SIGN} Mend the parser.")
        terminal.press("enter")
        terminal.wait_gone("Sent before")
        terminal.wait_for(f"{SIGN} Mend the parser.")
        terminal.press("enter")
        terminal.wait_for("Once more.")
        assert "Mend the parser." in texts(server.bodies[-1])


def test_writing_in_another_editor(program: Program) -> None:
    """It gets the terminal and the draft; afterwards the screen is as it was."""
    editor = program.project / "editor.py"
    editor.write_text(
        "import sys\n"
        "path = sys.argv[1]\n"
        "text = open(path, encoding='utf-8').read()\n"
        "input('EDITOR HAS THE TERMINAL')\n"
        "open(path, 'w', encoding='utf-8').write(text.upper() + '\\nand more')\n",
        encoding="utf-8",
    )
    env = {"EDITOR": f"{sys.executable} {editor}"}
    with screen(program, "say: Read.\n", env=env) as (terminal, server):
        terminal.send("a draft")
        terminal.wait_for(f"{SIGN} a draft")
        terminal.press("ctrl+g")
        terminal.wait_for("EDITOR HAS THE TERMINAL")
        terminal.press("enter")
        terminal.wait_for(f"{SIGN} A DRAFT", "and more")
        terminal.press("enter")
        terminal.wait_for("Read.")
        assert "A DRAFT\nand more" in texts(server.bodies[-1])
