"""Several sessions in one run of the program: another one resumed, a copy, a new conversation."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.e2e.program import Program
from tests.e2e.stage import MODEL, choose, leave, say, screen, served
from tests.e2e.typed import typing
from tests.fakes.examples import proof
from tests.fakes.model_server import ServerThread
from tests.fakes.terminal import Terminal

pytestmark = pytest.mark.e2e


def said(body: dict[str, Any]) -> list[str]:
    """The words of every message of a request."""
    return [
        block["text"]
        for message in body["messages"]
        for block in message["content"]
        if block["type"] == "text"
    ]


def prompts(path: Path) -> list[str]:
    """What the person said in a stored session; every line must be whole."""
    lines = [msgspec.json.decode(line) for line in path.read_bytes().splitlines()]
    assert lines[0]["type"] == "session"
    texts = [part["text"] for line in lines if line["type"] == "user" for part in line["content"]]
    return [text for text in texts if not text.startswith("Notice of this program: ")]


def test_resume_another_inside_and_come_back(program: Program) -> None:
    script = "say: A boat.\n---\nsay: A shed.\n---\nsay: Red.\n---\nsay: Oak.\n"
    with screen(program, script) as (terminal, server):
        say(terminal, "Think of a boat.")
        terminal.wait_for("A boat.")
        say(terminal, "/clear")
        terminal.wait_gone("A boat.")
        terminal.wait_for("A new conversation", "goes back")
        say(terminal, "Think of a shed.")
        terminal.wait_for("A shed.")
        assert said(server.bodies[-1])[-1] == "Think of a shed."
        assert not any("boat" in text for text in said(server.bodies[-1]))

        say(terminal, "/resume")
        terminal.wait_for("Go on with which session? Esc stays here", "boat")
        terminal.send("boat\r")
        terminal.wait_for("A boat.")
        terminal.wait_gone("A shed.")
        say(terminal, "Its colour?")
        terminal.wait_for("Red.")
        asked = said(server.bodies[-1])
        assert asked[-1] == "Its colour?"
        assert "Think of a boat." in asked
        assert not any("shed" in text for text in asked)

        say(terminal, "/resume shed")
        terminal.wait_for("A shed.")
        say(terminal, "Its wood?")
        terminal.wait_for("Oak.")
        last = leave(terminal)
    stored = {path.stem: prompts(path) for path in program.transcripts()}
    assert sorted(stored.values()) == [
        ["Think of a boat.", "Its colour?"],
        ["Think of a shed.", "Its wood?"],
    ]
    assert stored[last] == ["Think of a shed.", "Its wood?"]


def test_a_fork_and_its_origin_go_on_by_themselves(program: Program) -> None:
    script = "say: A boat.\n---\nsay: Sails.\n---\nsay: Oars.\n"
    with screen(program, script) as (terminal, server):
        say(terminal, "Think of a boat.")
        terminal.wait_for("A boat.")
        (origin,) = program.transcripts()
        before = origin.read_bytes()
        say(terminal, "/fork with sails")
        terminal.wait_for("This is a copy of", f"/resume {origin.stem[:13]} goes back", "A boat.")
        terminal.wait_until(lambda _: len(program.transcripts()) == 2)  # said nothing, yet kept
        say(terminal, "How does it move?")
        terminal.wait_for("Sails.")
        assert "Think of a boat." in said(server.bodies[-1])
        assert origin.read_bytes().startswith(before)
        assert "How does it move?" not in prompts(origin)
        copy = leave(terminal)
        assert copy != origin.stem

        env = {"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": "secret"}
        with program.terminal("--resume", origin.stem, env=env) as resumed:
            resumed.wait_for("A boat.", MODEL)
            assert "Sails." not in resumed.text()
            say(resumed, "And without wind?")
            resumed.wait_for("Oars.")
            say(resumed, "/resume with sails")
            resumed.wait_for("Sails.")
            resumed.wait_gone("Oars.")
    assert prompts(origin) == ["Think of a boat.", "And without wind?"]


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def kill(terminal: Terminal) -> None:
    terminal.kill(signal.SIGKILL)
    assert terminal.wait_exit() == -signal.SIGKILL


@pytest.mark.parametrize(
    ("line", "moment"),
    [
        ("/resume boat", "asked"),
        ("/clear", "shown"),
        ("/fork twin", "asked"),
        proof("/resume boat", "shown"),
        proof("/clear", "asked"),
        proof("/fork twin", "shown"),
    ],
)
def test_a_kill_while_switching_loses_nothing(program: Program, line: str, moment: str) -> None:
    with ServerThread("say: A boat.\n---\nsay: A shed.\n---\nsay: Here.\n---\nsay: Too.") as server:
        env = {"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": "secret"}
        program.run("-p", "Think of a boat.", "--model", MODEL, env=env)
        with program.cold.terminal("--model", MODEL, env=env) as terminal:
            terminal.wait_for("Ask anything", MODEL)
            say(terminal, "Think of a shed.")
            terminal.wait_for("A shed.", " in \u00b7 ")
            terminal.send(line)
            terminal.wait_for(f"\u276f {line}")
            terminal.press("enter")
            if moment == "shown":
                terminal.wait_gone(f"\u276f {line}")
            kill(terminal)
        by_prompt = {prompts(path)[0]: path for path in program.transcripts()}
        assert set(by_prompt) == {"Think of a boat.", "Think of a shed."}
        for prompt in by_prompt:
            ours = [path for path in program.transcripts() if prompts(path) == [prompt]]
            for path in ours[:1]:
                done = program.run("-p", "Are you there?", "--resume", path.stem, env=env)
                assert done.returncode == 0, done.stderr
                assert said(server.bodies[-1])[-1] == "Are you there?"
                assert prompt in said(server.bodies[-1])


def test_background_work_ends_only_with_the_persons_word(program: Program) -> None:
    program.unconfined()
    server_runs = '{"command": "echo $$ > pid; exec sleep 60", "run_in_background": true}'
    script = f"call[c1]: Bash {server_runs}\n---\nsay: It runs.\n---\nsay: Fresh.\n"
    with screen(program, script, columns=120) as (terminal, server):
        say(terminal, "Start it.")
        terminal.wait_for("Yes, once")
        choose(terminal, "y")
        terminal.wait_for("It runs.", "1 in background")
        pid = int((program.project / "pid").read_text(encoding="utf-8"))
        say(terminal, "/clear")
        terminal.wait_for("A background task runs here and would be stopped", "Stay here")
        terminal.press("enter")
        terminal.wait_gone("Stay here")
        terminal.wait_for("It runs.", "1 in background")
        os.kill(pid, 0)
        say(terminal, "/clear")
        terminal.wait_for("Stay here")
        terminal.press("down", "enter")
        terminal.wait_gone("It runs.")
        terminal.wait_until(lambda _: gone(pid))
        say(terminal, "Anew.")
        terminal.wait_for("Fresh.")
        assert said(server.bodies[-1])[-1] == "Anew."
        assert "1 in background" not in terminal.text()


def test_by_lines_a_number_goes_over(program: Program) -> None:
    with ServerThread("say: A boat.\n---\nsay: A shed.\n---\nsay: Red.") as server:
        program.run("-p", "Think of a boat.", "--model", MODEL, env=served(server))
        with typing(program, server, "--model", MODEL) as typed:
            typed.type("Think of a shed.\n")
            typed.until("A shed.")
            typed.until(" in, ")
            typed.type("/resume\n")
            typed.until("/resume with a number goes on with one.")
            typed.type("/resume 1\n")
            typed.until("> Think of a boat.\nA boat.\n")
            typed.type("Its colour?\n")
            typed.until("Red.")
            assert typed.end() == 0
    assert sorted(map(prompts, program.transcripts())) == [
        ["Think of a boat.", "Its colour?"],
        ["Think of a shed."],
    ]
