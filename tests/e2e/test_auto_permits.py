"""What a refusal of auto mode names as permitting it does permit it: said, written down, by a rule.

The judge knows nothing but what it is sent: it refuses to make a file until the person's words or
an entry of theirs name it.
"""

from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.program import Program
from tests.e2e.stage import MODEL, say, served, texts
from tests.fakes.judging_server import Case, JudgingServer
from tests.fakes.model_server import ServerThread
from tests.fakes.terminal import Terminal
from tests.fakes.warm import Nursery

pytestmark = pytest.mark.e2e

FILE = "release.txt"
COMMAND = f"touch {FILE}"
CALL = f"call: Bash {json.dumps({'command': COMMAND})}"
SCRIPT = f"{CALL}\n---\nsay: Left alone.\n---\n{CALL}\n---\nsay: All done."
ENTRY = f"Making {FILE} is part of this work."
SAID = f"You may make {FILE} now."
FLAGS = ("--model", MODEL, "--enable-auto-mode")


def judge(case: Case) -> tuple[str, str, str]:
    own = [*case.lists["environment"], *case.lists["allow"], *case.words]
    if FILE not in case.command or any(FILE in text for text in own):
        return "allow", "routine", "It is what was asked for."
    return "deny", "publishing", "Nobody asked for a release."


@pytest.fixture
def program(tmp_path: Path, nursery: Nursery) -> Program:
    made = Program.prepare(tmp_path, nursery)
    settle(made)
    return made


def settle(program: Program, **auto: Any) -> None:
    told = {"smallModel": "demo", "autoMode": {"unmeasured": True, "model": MODEL, **auto}}
    settings(program).write_text(json.dumps(told), encoding="utf-8")


def settings(program: Program) -> Path:
    return program.home / ".gatewright" / "settings.json"


def made(program: Program) -> bool:
    return (program.project / FILE).exists()


# --- in print mode


def test_a_refusal_names_every_way(program: Program) -> None:
    with ServerThread(server=JudgingServer(SCRIPT, judges=judge)) as server:
        done = program.run("-p", "Fix it.", *FLAGS, "--output-format", "json", env=served(server))
    (denial,) = json.loads(done.stdout)["permission_denials"]
    told = " ".join(texts(server.bodies[-1]))
    for way in (
        "says so in their own words",
        "autoMode.environment",
        "autoMode.allow",
        "allow rule",
    ):
        assert way in told
        assert way in denial["reason"]
    assert not made(program)


@pytest.mark.parametrize("way", ["words", "environment", "allow", "rule"])
def test_each_way_works_for_the_next_run(program: Program, way: str) -> None:
    with ServerThread(server=JudgingServer(SCRIPT, judges=judge)) as server:
        program.run("-p", "Fix it.", *FLAGS, env=served(server))
        assert not made(program)
        looked = len(server.requests)
        match way:
            case "environment" | "allow":
                settle(program, **{way: ["$defaults", ENTRY]})
            case "rule":
                program.run("permissions", "add", "allow", f"Bash({COMMAND})")
            case _:
                pass
        words = SAID if way == "words" else "Go on."
        done = program.run("-p", words, "--continue", *FLAGS, env=served(server))
    assert done.stdout.strip() == "All done."
    assert made(program)
    again = [each for each in server.bodies[looked:] if "<account>" in json.dumps(each)]
    assert bool(again) is (way != "rule"), "what a rule grants needs no judge"


# --- in a real terminal


@contextmanager
def refused(program: Program, columns: int) -> Generator[Terminal]:
    """Auto mode has refused the call, and the turn is over."""
    with ServerThread(server=JudgingServer(SCRIPT, judges=judge)) as server:
        env = served(server)
        with program.terminal(*FLAGS, env=env, rows=34, columns=columns) as terminal:
            terminal.wait_for("Ask anything", "measured")
            say(terminal, "Fix it.")
            terminal.wait_for("refused", "publishing: ", "Left alone.")
            assert not made(program)
            yield terminal


def recent(terminal: Terminal) -> None:
    say(terminal, "/permissions")
    terminal.wait_for("Permissions", "recent")
    terminal.look(1.5)  # a key before the panel was seen is a draft
    terminal.press("shift+tab")
    terminal.wait_for(COMMAND, "denied: judge", "publishing: ")


def test_said_by_a_key_it_runs(program: Program) -> None:
    with refused(program, 120) as terminal:
        recent(terminal)
        terminal.press("ctrl+r")
        terminal.wait_for("What you say", f"You may run this: {COMMAND}", "A judge reads it")
        terminal.look()
        terminal.press("enter")
        terminal.wait_for("All done.")
    assert made(program)


@pytest.mark.parametrize(("key", "section"), [("ctrl+e", "environment"), ("ctrl+a", "allow")])
def test_written_down_by_a_key_it_counts_at_once(program: Program, key: str, section: str) -> None:
    with refused(program, 60) as terminal:
        recent(terminal)
        terminal.press(key)
        terminal.wait_for(f"autoMode.{section}")
        terminal.send(ENTRY)
        terminal.wait_for("of this work", "A judge reads it")
        terminal.look()
        terminal.press("enter")
        terminal.wait_for(f"Added to autoMode.{section}")
        terminal.press_until_gone("escape", "type to search")
        say(terminal, "Go on.")
        terminal.wait_for("All done.")
    assert made(program)
    kept = json.loads(settings(program).read_text(encoding="utf-8"))["autoMode"][section]
    assert kept == ["$defaults", ENTRY]


@pytest.mark.parametrize("line", [SAID, f"/permissions allow Bash({COMMAND})"])
def test_typed_it_runs(program: Program, line: str) -> None:
    with refused(program, 100) as terminal:
        say(terminal, line)
        if line.startswith("/"):
            terminal.wait_for("allow Bash(")
            say(terminal, "Go on.")
        terminal.wait_for("All done.")
    assert made(program)
