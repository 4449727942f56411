"""The stories of the screen told line by line: typed in, read out, never an escape code."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Generator
from contextlib import contextmanager

import pytest

from tests.e2e.program import Program
from tests.e2e.stage import MODEL, served, texts
from tests.e2e.test_story_running import BYPASS, running, until_gone, written_number
from tests.e2e.typed import ASKED, Typed, typing
from tests.fakes.model_server import ModelServer, ServerThread
from tests.fakes.waiting import PATIENCE

pytestmark = pytest.mark.e2e

MAKE = 'call: Bash {"command": "make all"}\n---\n'
WRITE = 'call: Write {"file_path": "new.txt", "content": "made\\n"}\n---\n'
EDIT = {"file_path": "notes.txt", "old_string": "beta", "new_string": "gamma"}


@contextmanager
def talk(program: Program, script: str, *flags: str) -> Generator[tuple[Typed, ModelServer]]:
    """A conversation; at its end everything that was printed is looked at once more."""
    with ServerThread(script) as server:
        with typing(program, server, "--model", MODEL, *flags) as typed:
            yield typed, server
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", typed.page), typed.page


def test_without_a_key_the_next_step_is_named(program: Program) -> None:
    done = program.run("--plain", "--model", MODEL, input="Hi.\n")
    assert "ANTHROPIC_API_KEY" in done.stdout
    assert "\x1b" not in done.stdout + done.stderr


def test_allowing_for_good(program: Program) -> None:
    with talk(program, MAKE * 2 + "say: Built.\n") as (typed, _):
        typed.type("Build it.\n")
        assert "$ make all" in typed.until("Bash(make all:*)")
        typed.until(ASKED)
        typed.type("Y\n")
        typed.until("Built.")
        assert typed.end() == 0
        assert typed.page.count("Run this command?") == 1
    assert any("make all" in path.read_text("utf-8") for path in program.home.rglob("*.json"))


def test_refusing_with_a_word(program: Program) -> None:
    with talk(program, MAKE + "say: With ninja.\n") as (typed, server):
        typed.type("Build it.\n")
        typed.until(ASKED)
        typed.type("use ninja, make is gone\n")
        typed.until("With ninja.")
        assert any("use ninja, make is gone" in text for text in texts(server.bodies[-1]))


def test_an_edit_is_read_before_it_is_made(program: Program) -> None:
    read = 'call: Read {"file_path": "notes.txt"}'
    script = f"{read}\n---\ncall: Edit {json.dumps(EDIT)}\n---\nsay: Ok\n"
    with talk(program, script) as (typed, _):
        typed.type("Rename it.\n")
        asked = typed.until(ASKED)
        assert "-beta" in asked
        assert "+gamma" in asked
        typed.type("y\n")
        typed.until("Ok")
        assert typed.end() == 0
    assert (program.project / "notes.txt").read_text("utf-8") == "alpha\ngamma\n"


def test_ctrl_c_stops_a_command_and_the_talk_goes_on(program: Program) -> None:
    program.unconfined()
    script = running("echo $$ > shell; sleep 60; true") + "say: Here again.\n"
    with talk(program, script, *BYPASS) as (typed, _):
        typed.type("Wait.\n")
        pid = written_number(program.project / "shell")
        typed.process.send_signal(signal.SIGINT)
        until_gone([pid])
        typed.until("nterrupted")
        typed.type("Still there?\n")
        typed.until("Here again.")
        assert typed.end() == 0


def test_what_is_typed_meanwhile_steers(program: Program) -> None:
    program.unconfined()
    script = running("touch on; until [ -e go ]; do sleep 0.05; done") + "say: Blue it is.\n"
    with talk(program, script, *BYPASS) as (typed, server):
        typed.type("Paint it.\n")
        typed.until("touch on")
        typed.type("Make it blue.\n")
        typed.until("waits for the next step")
        (program.project / "go").touch()
        typed.until("Blue it is.")
        assert "Make it blue." in "".join(texts(server.bodies[1])[-1:])


@pytest.mark.parametrize(
    "typed_as", ["\x1b[200~{}\x1b[201~\n", "{}\n"], ids=["marked", "continued lines"]
)
def test_five_thousand_lines_are_one_message(program: Program, typed_as: str) -> None:
    lines = [f"line {number}" for number in range(5000)]
    joint = "\n" if "\x1b" in typed_as else "\\\n"
    with talk(program, "say: Long.\n") as (typed, server):
        typed.type(typed_as.format(joint.join(lines)))
        typed.until("Long.")
        assert "(One message of 5,000 lines.)" in typed.page
        assert "\n".join(lines) in texts(server.bodies[-1])


def test_files_own_commands_and_memory(program: Program) -> None:
    with talk(program, "say: I see.\n") as (typed, server):
        typed.type("!printf 'out\\033[2J-%s' $((40+2)); exit 3\n")
        typed.until("exit 3")
        assert "out-42" in typed.page
        typed.type("# we indent by tabs\n")
        typed.until("AGENTS.md")
        assert not server.bodies
        typed.type("Look at @notes.txt and that.\n")
        typed.until("I see.")
        assert "Not attached: @notes.txt." in typed.page, "a pipe is nobody's own hand"
        said = "\n".join(texts(server.bodies[-1]))
        assert "alpha" not in said
        assert "-42" in said
    assert "tabs" in (program.project / "AGENTS.md").read_text("utf-8")


def test_going_back_another_model_another_mode(program: Program) -> None:
    script = f"{WRITE}say: It is made.\n---\nsay: Anew.\n"
    with talk(program, script, "--permission-mode", "acceptEdits") as (typed, server):
        typed.type("Make a file.\n")
        typed.until("It is made.")
        typed.until(" s, ")  # the turn has ended
        typed.type("/rewind\n")
        typed.until("1 file")
        typed.type("/rewind 1\n")
        typed.until("1 file put back")
        assert not (program.project / "new.txt").exists()
        typed.type("/model anthropic/claude-opus-5-5\n/mode plan\n")
        typed.until("Model: anthropic/claude-opus-5-5")
        typed.until("Mode: plan")
        typed.type("Again.\n")
        typed.until("Anew.")
        assert typed.end() == 0
        assert typed.page.count("Mode: plan") == 1
        assert "opus" in server.bodies[-1]["model"]
        assert len(server.bodies[-1]["messages"]) == 1


def test_leaving_tells_the_way_back(program: Program) -> None:
    with talk(program, "say: It is 42.\n---\nsay: Still.\n") as (typed, server):
        typed.type("What is it?\n")
        typed.until("It is 42.")
        typed.type("/exit\n")
        assert typed.process.wait(PATIENCE) == 0
        found = re.search(r"agent --plain --resume (\S+)", typed.until("Go on with:"))
        assert found
        with typing(program, server, "--resume", found[1]) as resumed:
            page = resumed.until("It is 42.")
            assert "> What is it?" in page
            resumed.type("Sure?\n")
            resumed.until("Still.")
            assert len(server.bodies[-1]["messages"]) == 3


def test_hostile_text_is_spelled_out(program: Program) -> None:
    """From the model, from a command it ran, from a file's name in a question."""
    program.unconfined()
    hostile = "\x1b]52;c;aGk=\x07\x1b[2J\x9b31m\u202eabc"
    (program.project / "bad.txt").write_text(hostile, encoding="utf-8")
    write = json.dumps({"file_path": "a\x1b[2Jb.txt", "content": hostile})
    script = (
        f"say: One{hostile}\ncall: Write {write}\n---\n" + running("cat bad.txt") + "say: End.\n"
    )
    with talk(program, script) as (typed, _):
        typed.type("Go.\n")
        typed.until(ASKED)
        typed.type("y\n")
        typed.until("End.")
        assert typed.end() == 0
        assert "<U+001B>" in typed.page
        assert "\u202e" not in typed.page


def test_a_dumb_terminal_gets_lines_and_is_told_so(program: Program) -> None:
    """On a real terminal: a paste without marks is one message, and Ctrl+D ends."""
    with ServerThread("say: Three.\n") as server:
        env = {**served(server), "TERM": "dumb"}
        with program.terminal("--model", MODEL, env=env) as terminal:
            terminal.wait_for("TERM=dumb", "/help lists commands")
            terminal.send("one\ntwo\nthree\n")
            terminal.wait_for("Three.", " s, ")
            assert "one\ntwo\nthree" in texts(server.bodies[-1])
            terminal.press("ctrl+d")
            assert terminal.wait_exit() == 0
            assert "Go on with: agent --plain --resume" in terminal.wait_for("Go on with")
            assert b"\x1b" not in terminal.raw
