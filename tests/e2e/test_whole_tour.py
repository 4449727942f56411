"""A person's first quarter of an hour, below a real shell: panels, an edit, steps, a summary."""

from __future__ import annotations

import json

import pytest

from tests.e2e.program import AGENT, Program
from tests.e2e.stage import MODEL, choose, say, served
from tests.fakes.examples import proof
from tests.fakes.model_server import ServerThread
from tests.fakes.terminal import SIGN, Terminal

pytestmark = pytest.mark.e2e

STEPS = [
    {"content": "Read the notes", "status": "completed"},
    {"content": "Rename beta", "status": "in_progress", "activeForm": "Renaming beta"},
    {"content": "Say so", "status": "pending"},
]
EDIT = {"file_path": "notes.txt", "old_string": "beta", "new_string": "gamma"}
SCRIPT = (
    'call: Read {"file_path": "long.txt"}\n---\n'
    "say: It is a small project with **notes**.\n---\n"
    f"call: TodoWrite {json.dumps({'todos': STEPS})}\n---\n"
    'call: Read {"file_path": "notes.txt"}\n---\n'
    f"call: Edit {json.dumps(EDIT)}\n---\n"
    "say: Renamed.\n---\n"
    "say: The person renamed beta to gamma in notes.txt.\n---\n"
    "say: Still here.\n"
)
SHELL = ("bash", "--noprofile", "--norc", "-i")
PANELS = {
    "/help": "Commands",
    "?": "While it works",
    "/context": "Context",
    "/cost": "What was spent",
    "/status": "This session",
    "/model": "Model",
    "/memory": "Instruction files",
    "/theme": "Dark or light, as your terminal is",
}


@pytest.mark.parametrize(("rows", "columns"), [(24, 80), proof(40, 120)])
def test_a_first_quarter_of_an_hour(program: Program, rows: int, columns: int) -> None:
    long = "".join(f"{n} is a line that says something\n" for n in range(600))
    (program.project / "long.txt").write_text(long, encoding="utf-8")
    with ServerThread(SCRIPT) as server:
        env = program.env(PS1="ready> ", HISTFILE="", **served(server))
        with Terminal(SHELL, cwd=program.project, env=env, rows=rows, columns=columns) as terminal:
            terminal.wait_for("ready>")
            terminal.send(f"{AGENT} --model {MODEL}\r")
            shown = terminal.wait_for("Gatewright", "no earlier session here", "? keys", MODEL)
            assert "what does this project do?" in shown
            ask_and_edit(terminal, program)
            for panel, word in PANELS.items():
                look_at(terminal, panel, word)
            summarise(terminal)
            go_back(terminal)
            suspend(terminal)
            say(terminal, "/exit")
            terminal.wait_for("agent --resume", "ready>")
            terminal.send("printf '\\033[H\\033[2J'\r")  # `clear` is not on every machine
            terminal.wait_gone("agent --resume")
            terminal.send(f"{AGENT} --model {MODEL}\r")
            terminal.wait_for("last: ", "(agent -c)", f"{SIGN} Ask anything")
            terminal.press("ctrl+d")
            terminal.wait_for("ready>")


def ask_and_edit(terminal: Terminal, program: Program) -> None:
    say(terminal, "What is this?")
    terminal.wait_for("It is a small project with notes.")
    say(terminal, "Rename beta.")
    terminal.wait_for("Yes, once", "notes.txt", "gamma", "Renaming beta")
    choose(terminal, "v", until="v opens an editor")
    terminal.wait_for("alpha", "notes.txt +1 -1")
    terminal.press("q")
    terminal.wait_for("Yes, once")
    assert (program.project / "notes.txt").read_text("utf-8") == "alpha\nbeta\n"
    choose(terminal, "y")
    terminal.wait_for("Renamed.", "Renaming beta", "Say so", "40 in", f"{SIGN} Ask anything")
    assert (program.project / "notes.txt").read_text("utf-8") == "alpha\ngamma\n"
    terminal.press("ctrl+x")
    terminal.wait_gone("Say so")
    terminal.press("ctrl+x")
    terminal.wait_for("Say so")


def seen(terminal: Terminal) -> list[str]:
    """What a person has looked at: nothing moves any more."""
    terminal.look(0.5)
    return terminal.screen()


def look_at(terminal: Terminal, panel: str, word: str) -> None:
    """Open it, and leave it by the key that stands on it."""
    before = seen(terminal)
    if panel == "?":
        terminal.press("?")
    else:
        say(terminal, panel)
    terminal.wait_for(word, "esc closes", f"{SIGN} Ask anything")
    terminal.press("escape")
    terminal.wait_gone("esc closes")
    terminal.wait_until(lambda _: terminal.screen() == before)


def summarise(terminal: Terminal) -> None:
    say(terminal, "/compact")
    terminal.wait_for("earlier messages summarised")
    terminal.press("ctrl+o")
    terminal.wait_for("The person renamed beta to gamma in notes.txt.")
    terminal.press("ctrl+o")
    terminal.look(0.5)
    terminal.press("ctrl+o")  # the second opened all, this one closes them
    terminal.wait_gone("The person renamed beta to gamma in notes.txt.")
    say(terminal, "And now?")
    terminal.wait_for("Still here.")


def go_back(terminal: Terminal) -> None:
    """Esc twice empties a draft, and on an empty prompt offers to go back."""
    terminal.send("a draft")
    terminal.wait_for(f"{SIGN} a draft")
    terminal.press("escape", "escape")
    terminal.wait_for(f"{SIGN} Ask anything")
    terminal.send("\x1f")
    terminal.wait_for(f"{SIGN} a draft")
    terminal.press("ctrl+c")
    terminal.wait_for(f"{SIGN} Ask anything")
    terminal.press("up")
    terminal.wait_for(f"{SIGN} a draft")
    terminal.press("up")
    terminal.wait_for(f"{SIGN} And now?")
    terminal.press("down", "down")
    terminal.wait_for(f"{SIGN} Ask anything")
    terminal.look(2.5)
    terminal.press("escape", "escape")
    terminal.wait_for("Go back to", "And now?", "esc closes")
    terminal.press("escape")
    terminal.wait_gone("Go back to")


def suspend(terminal: Terminal) -> None:
    before = seen(terminal)
    terminal.press("ctrl+z")
    terminal.wait_for("Stopped", "ready>")
    terminal.send("fg\r")
    terminal.wait_until(lambda _: terminal.screen() == before)
