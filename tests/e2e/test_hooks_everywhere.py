"""One story with a hook at every event, in each front end: what hooks read, and what is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.program import Program
from tests.e2e.typed import typing
from tests.fakes.model_server import ModelServer, ServerThread
from tests.hooks.scripts import command, hooks
from tests.hooks.test_events import COMMON, ROWS

pytestmark = pytest.mark.e2e

MODEL = "anthropic/claude-sonnet-5-5"
FLAGS = ("--model", MODEL, "--permission-mode", "bypassPermissions")
SCRIPT = """\
call[c1]: Bash {"command": "mkdir sub && cd sub"}
---
call[c2]: Read {"file_path": "missing.txt"}
---
call[c3]: Write {"file_path": "kept.txt", "content": "x"}
---
say: All done.
"""
HEARD = {
    "SessionStart", "InstructionsLoaded", "UserPromptSubmit", "PreToolUse", "PostToolUse",
    "PostToolUseFailure", "PostToolBatch", "PermissionDenied", "MessageDisplay", "CwdChanged",
    "Stop", "SessionEnd",
}  # fmt: skip
MAYBE = {"prompt_id", "effort", "model"}  # where there is one
FAILED = ("exit 1: oh", "exit 127", "not that file")


def configured(program: Program) -> None:
    log = command(f"cat >> {program.home}/heard")
    events: dict[str, Any] = {event: [{"hooks": [log]}] for event in ROWS}
    for event, matcher, line in (
        ("UserPromptSubmit", "", "echo oh >&2; exit 1"),
        ("Stop", "", "nothing-of-this-name"),
        ("PreToolUse", "Write", "sleep 0.2; echo not that file >&2; exit 2"),
    ):
        events[event].append({"matcher": matcher, "hooks": [command(line)]})
    values = {"smallModel": "demo", "hooks": events}
    path = program.home / ".gatewright" / "settings.json"
    path.write_text(json.dumps(values), encoding="utf-8")
    (program.home / ".gatewright" / "AGENTS.md").write_text("Be brief.", encoding="utf-8")


def env(server: ModelServer) -> dict[str, str]:
    return {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": server.url}


def told_hooks(program: Program) -> None:
    """Every event of the story was heard, each with what the public contract says."""
    text = (program.home / "heard").read_text(encoding="utf-8")
    heard = [json.loads(line) for line in text.splitlines()]
    assert {each["hook_event_name"] for each in heard} >= HEARD
    for each in heard:
        own = ROWS[each["hook_event_name"]][1]
        assert COMMON - MAYBE <= each.keys() <= COMMON | own, each
        assert Path(each["transcript_path"]).is_file()
    assert not (program.project / "kept.txt").exists()


def test_the_last_message_is_heard_by_who_is_slow(program: Program) -> None:
    slow = command(f"sleep 0.4; cat >> {program.home}/heard")
    values = {"smallModel": "demo", "hooks": {"MessageDisplay": [{"hooks": [slow]}]}}
    path = program.home / ".gatewright" / "settings.json"
    path.write_text(json.dumps(values), encoding="utf-8")
    with ServerThread("say: Over.") as server:
        done = program.run("-p", "go", env=env(server))
    assert (done.returncode, done.stdout.strip()) == (0, "Over."), done.stderr
    (heard,) = (program.home / "heard").read_text(encoding="utf-8").splitlines()
    assert json.loads(heard)["delta"] == "Over."


def test_as_text(program: Program) -> None:
    configured(program)
    with ServerThread(SCRIPT) as server:
        done = program.run("-p", "go", *FLAGS, env=env(server))
    assert (done.returncode, done.stdout.strip()) == (0, "All done."), done.stderr
    assert all(words in done.stderr for words in FAILED), done.stderr
    told_hooks(program)


def test_as_lines_of_json(program: Program) -> None:
    configured(program)
    with ServerThread(SCRIPT) as server:
        given = {"type": "user", "message": {"role": "user", "content": "go"}}
        done = program.run(
            "-p", "--output-format", "stream-json", "--input-format", "stream-json", "--verbose",
            "--include-hook-events", *FLAGS, env=env(server), input=f"{json.dumps(given)}\n",
        )  # fmt: skip
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    ran = [line for line in lines if line.get("subtype") == "hook_response"]
    begun = [line["hook_id"] for line in lines if line.get("subtype") == "hook_started"]
    assert {line["hook_id"] for line in ran} <= set(begun)
    found = {(line["hook_event"], line["exit_code"], line["outcome"]) for line in ran}
    assert found >= {
        ("UserPromptSubmit", 0, "success"), ("UserPromptSubmit", 1, "error"),
        ("Stop", 127, "error"), ("PreToolUse", 2, "success"),
    }  # fmt: skip
    told_hooks(program)


def test_line_by_line(program: Program) -> None:
    configured(program)
    with ServerThread(SCRIPT) as server, typing(program, server, *FLAGS) as typed:
        typed.type("go\n")
        typed.until("All done.")
        assert typed.end() == 0
        assert all(words in typed.page for words in FAILED), typed.page
    told_hooks(program)


def test_on_the_screen(program: Program) -> None:
    configured(program)
    with ServerThread(SCRIPT) as server, program.terminal(*FLAGS, env=env(server)) as terminal:
        terminal.wait_for("bypass")
        terminal.send("go")
        terminal.wait_for("\u276f go")
        terminal.press("enter")
        terminal.wait_for("All done.")
        for words in FAILED:
            terminal.wait_for(words)
        terminal.wait_for("2 hook failures")
        terminal.send("/exit")
        terminal.wait_for("\u276f /exit")
        terminal.press("enter")
        assert terminal.wait_exit() == 0
    told_hooks(program)


def test_an_input_that_is_refused_is_told_and_no_turn(program: Program) -> None:
    own = hooks("UserPromptSubmit", command("echo keep it >&2; exit 2"))
    path = program.home / ".gatewright" / "settings.json"
    path.write_text(json.dumps({"smallModel": "demo", **own}), encoding="utf-8")
    with ServerThread(SCRIPT) as server:
        text = program.run("-p", "go", *FLAGS, env=env(server))
        told = program.run("-p", "go", "--output-format", "json", *FLAGS, env=env(server))
        with typing(program, server, *FLAGS) as typed:
            typed.type("go\n")
            typed.until("Not sent: keep it")
            assert typed.end() == 0
        assert not server.bodies
    assert (text.returncode, text.stdout) == (1, "")
    assert text.stderr.count("The input was not sent: keep it") == 1
    assert "echo keep it >&2; exit 2 refused it\n" in text.stderr
    result = json.loads(told.stdout)
    assert (told.returncode, result["is_error"], result["errors"]) == (1, True, ["keep it"])
