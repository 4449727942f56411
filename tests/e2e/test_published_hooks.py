"""Ten hook scripts as people publish them for Claude Code, unchanged, from its settings file."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.e2e.program import Program
from tests.fakes.model_server import ServerThread

pytestmark = pytest.mark.e2e

PUBLISHED = Path(__file__).parents[1] / "hooks" / "published"
KEY = "AKIA" + "ABCDEFGHIJKLMNOP"
WRITE = 'call[c1]: Write {"file_path": "app.py", "content": "x = 1   \\ny = 2\\t\\n"}'
SECRET = f'call[c2]: Bash {{"command": "echo {KEY}"}}'
COMMIT = 'call[c3]: Bash {"command": "git commit -m stuff"}'
LISTED = 'call[c4]: Bash {"command": "touch build/listed"}'
FIXED = 'call[c5]: Write {"file_path": "run_tests", "content": "exit 0\\n"}'


def script(*answers: str) -> str:
    return "\n---\n".join(answers) + "\n"


def published(program: Program) -> dict[str, str]:
    """The project as somebody has it who uses Claude Code; the environment that stands for it."""
    claude = program.project / ".claude"
    shutil.copytree(PUBLISHED / "hooks", claude / "hooks")
    shutil.copy(PUBLISHED / "settings.json", claude / "settings.json")
    (program.project / "build").mkdir()
    (program.project / "run_tests").write_text("echo 1 failed; exit 1\n", encoding="utf-8")
    (program.project / "run_tests").chmod(0o644)
    programs = program.home / "bin"
    programs.mkdir()
    notify = programs / "notify-send"
    notify.write_text(f'#!/bin/sh\necho "$*" >> {program.home}/notified\n', encoding="utf-8")
    notify.chmod(0o755)
    return {"PATH": f"{programs}:{program.env()['PATH']}"}


def results(bodies: list[dict[str, object]]) -> str:
    return json.dumps(bodies[-1]["messages"])


def test_in_print_mode(program: Program) -> None:
    env = published(program)
    asked = [WRITE, SECRET, COMMIT, LISTED, "say: Done.", FIXED, "say: Fixed."]
    with ServerThread(script(*asked)) as server:
        env |= {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": server.url}
        done = program.run(
            "-p", "!brief fix it", "--trust", "--permission-mode", "acceptEdits",
            env=env, within=50,
        )  # fmt: skip
        first = json.dumps(server.bodies[0]["messages"])
        last = results(server.bodies)
    assert (done.returncode, done.stdout.strip()) == (0, "Fixed."), done.stderr
    assert "## Project status" in first, "context at the start"
    assert "Answer in one sentence." in first, "the shortcut is spelled out"
    text = (program.project / "app.py").read_text(encoding="utf-8")
    assert text == "x = 1\ny = 2\n", "formatted"
    assert "holds an AWS key" in last, "secrets"
    assert "has no type" in last, "commit messages"
    assert (program.project / "build" / "listed").exists(), "the list of what is allowed"
    assert "The tests fail: 1 failed" in last, "tests before the end"
    logs = program.project / "logs"
    calls = [json.loads(line) for line in (logs / "calls.jsonl").read_text("utf-8").splitlines()]
    ran = [call["input"].get("command") or call["input"]["file_path"] for call in calls]
    wanted = [str(program.project / "app.py"), "touch build/listed"]  # a denial stops the others
    assert [each for each in ran if each in wanted] == wanted, "the log"
    summary = json.loads((logs / "summary.json").read_text(encoding="utf-8"))
    assert summary["counts"]["tool_use"] == 5
    assert any("fix it" in prompt for prompt in summary["prompts"])


def test_an_untrusted_checkout_runs_none_of_them(program: Program) -> None:
    env = published(program)
    with ServerThread(script(SECRET, "say: Done.")) as server:
        env |= {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": server.url}
        program.run("-p", "go", env=env, within=50)
    assert not (program.project / "logs").exists()


def test_on_the_screen(program: Program) -> None:
    env = published(program)
    (program.project / "run_tests").write_text("exit 0\n", encoding="utf-8")
    asks = 'call[c6]: Bash {"command": "touch asked"}'
    with ServerThread(script(SECRET, asks, "say: All done.")) as server:
        env |= {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": server.url}
        with program.terminal("--trust", env=env) as terminal:
            terminal.wait_for("default")
            terminal.send("password: x1")
            terminal.wait_for("\u276f password: x1")
            terminal.press("enter")
            terminal.wait_for("The prompt holds a password.", "\u276f password: x1")
            terminal.press_until_gone("ctrl+u", "\u276f password")
            terminal.send("go on")
            terminal.wait_for("\u276f go on")
            terminal.press("enter")
            terminal.wait_for("holds an AWS key")
            terminal.wait_for("Yes, once")
            notified = program.home / "notified"
            terminal.wait_until(lambda _: notified.exists())
            terminal.press_until_gone("y", "Yes, once")
            terminal.wait_for("All done.")
    assert (program.project / "asked").exists()
    assert "Claude Code" in notified.read_text(encoding="utf-8")
