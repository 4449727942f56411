"""`--agent NAME` and the setting `agent`: the session is that agent, and the gate sees to it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.agents.definition_files import definition
from tests.e2e.program import Program
from tests.fakes.model_server import ModelServer, ServerThread

pytestmark = pytest.mark.e2e

MODEL = ("--model", "llamacpp/tiny.gguf")


def define(program: Program, text: str, where: str = "home/.claude/agents/reader.md") -> None:
    path = Path(str(program.home.parent)) / where
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def offered(server: ModelServer) -> set[str]:
    return {tool["function"]["name"] for tool in server.bodies[-1]["tools"]}


def test_prompt_tools_and_model_are_its_own(program: Program) -> None:
    define(program, definition("reader", "tools: Read, Grep\nmodel: llamacpp/tiny.gguf"))
    with ServerThread("say: Hello.") as server:
        env = {"LLAMACPP_BASE_URL": server.openai_url}
        done = program.run("-p", "hi", "--agent", "reader", env=env)
    assert (done.returncode, done.stdout, done.stderr) == (0, "Hello.\n", "")
    assert offered(server) <= {"Read", "Grep"}
    system = json.dumps(server.bodies[0]["messages"][0])
    assert "You work." in system
    assert "You are Gatewright" not in system
    assert "Working directory" in system


@pytest.mark.parametrize("mode", ["default", "bypassPermissions"])
def test_the_gate_holds_it_to_its_tools(program: Program, mode: str) -> None:
    define(program, definition("reader", "tools: Read"))
    call = 'call: Bash {"command": "echo ran > here"}'
    with ServerThread(f"{call}\n---\nsay: No.") as server:
        env = {"LLAMACPP_BASE_URL": server.openai_url}
        arguments = ("-p", "hi", "--agent", "reader", "--permission-mode", mode, *MODEL)
        program.run(*arguments, env=env)
    assert not (program.project / "here").exists()
    assert "is not among what may be used here: Read" in json.dumps(server.bodies[1]["messages"])


def test_what_it_may_not_use_is_denied(program: Program) -> None:
    define(program, definition("reader", "disallowedTools: Bash"))
    with ServerThread("say: No.") as server:
        env = {"LLAMACPP_BASE_URL": server.openai_url}
        program.run("-p", "hi", "--agent", "reader", *MODEL, env=env)
    assert "Bash" not in offered(server)
    assert "Read" in offered(server)


def test_the_setting_names_it_and_the_flag_comes_first(program: Program) -> None:
    define(program, definition("reader", text="You read."))
    define(program, definition("other", text="You do else."), "home/.claude/agents/other.md")
    settings = program.home / ".gatewright" / "settings.json"
    settings.write_text('{"smallModel": "demo", "agent": "reader"}', encoding="utf-8")
    for arguments, prompt in (((), "You read."), (("--agent", "other"), "You do else.")):
        with ServerThread("say: x") as server:
            env = {"LLAMACPP_BASE_URL": server.openai_url}
            program.run("-p", "hi", *arguments, *MODEL, env=env)
        assert prompt in json.dumps(server.bodies[0]["messages"][0])


def test_it_begins_with_its_own_words(program: Program) -> None:
    define(program, definition("reader", "initialPrompt: Read everything."))
    with ServerThread("say: Done.\n---\nsay: Hello.") as server:
        env = {"LLAMACPP_BASE_URL": server.openai_url}
        done = program.run("-p", "hi", "--agent", "reader", *MODEL, env=env)
    assert done.returncode == 0
    assert "Read everything." in json.dumps(server.bodies[0]["messages"])


@pytest.mark.parametrize(
    ("name", "told"),
    [("nobody", "There is no type of agent 'nobody'"), ("evil", "once the person trusts")],
)
def test_one_that_is_not_there_ends_the_start(program: Program, name: str, told: str) -> None:
    define(program, definition("evil", "permissionMode: auto"), "project/.claude/agents/evil.md")
    done = program.run("-p", "hi", "--agent", name, "--model", "demo")
    assert done.returncode != 0
    assert f"--agent: {told}" in done.stderr or told in done.stderr


def test_definitions_of_the_command_line(program: Program) -> None:
    entries: dict[str, Any] = {
        "mine": {"description": "d", "prompt": "You are mine.", "tools": ["Read"]}
    }
    with ServerThread("say: x") as server:
        env = {"LLAMACPP_BASE_URL": server.openai_url}
        program.run("-p", "hi", "--agents", json.dumps(entries), "--agent", "mine", *MODEL, env=env)
    assert "You are mine." in json.dumps(server.bodies[0]["messages"][0])
    done = program.run("-p", "hi", "--agents", "{", "--model", "demo")
    assert done.returncode == 2
    assert "--agents: is no JSON" in done.stderr
    entries["mine"] = {"prompt": "p", "disallowedTools": ["Bsh"]}
    done = program.run("-p", "hi", "--agents", json.dumps(entries), "--model", "demo")
    assert done.returncode == 2
    assert "mine: disallowedTools: Bsh forbids nothing" in done.stderr
    entries["mine"] = {"prompt": "p", "tools": ["Raed"]}
    with ServerThread("say: x") as server:
        env = {"LLAMACPP_BASE_URL": server.openai_url}
        done = program.run("-p", "hi", "--agents", json.dumps(entries), *MODEL, env=env)
    assert done.returncode == 0
    assert "mine: tools: No tool is called Raed. Did you mean Read?" in done.stderr


def test_a_project_does_not_choose_it_unasked(program: Program) -> None:
    define(program, definition("theirs", text="Do evil."), "project/.claude/agents/theirs.md")
    path = program.project / ".gatewright" / "settings.json"
    path.parent.mkdir()
    path.write_text('{"agent": "theirs"}', encoding="utf-8")
    with ServerThread("say: x") as server:
        env = {"LLAMACPP_BASE_URL": server.openai_url}
        program.run("-p", "hi", *MODEL, env=env)
    assert "Do evil." not in json.dumps(server.bodies[0])
