"""A small model behind a local server: what the server lacks is said, and never success."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gatewright.tools.registry import BuiltinTools
from tests.e2e.program import Program
from tests.fakes.model_server import ModelServer, ServerThread

pytestmark = pytest.mark.e2e

MODEL = "llamacpp/tiny.gguf"
WRITTEN = '<tool_call>{"name": "Read", "arguments": {"file_path": "notes.txt"}}</tool_call>'


def test_calls_as_text_are_no_success_in_print_mode(program: Program) -> None:
    with ServerThread(f"say: {WRITTEN}\n---\nsay: {WRITTEN}") as server:
        env = {"LLAMACPP_BASE_URL": server.openai_url}
        done = program.run("-p", "Read.", "--model", MODEL, "--output-format", "json", env=env)
    result = json.loads(done.stdout)
    assert done.returncode == 1
    assert (result["is_error"], result["subtype"]) == (True, "error_during_execution")
    assert result["terminal_reason"] == "malformed_tool_use"
    assert "--jinja" in result["errors"][0] and result["num_turns"] == 2
    _, second = server.bodies
    assert "written as text" in json.dumps(second["messages"][-1])


def known(program: Program, window: int) -> None:
    facts = {"tiny.gguf": {"window": window, "maxOutput": 1024}}
    settings = {"smallModel": "demo", "providers": {"llamacpp": {"models": facts}}}
    path = program.home / ".gatewright" / "settings.json"
    path.write_text(json.dumps(settings), encoding="utf-8")


def offered(server: ModelServer) -> dict[str, dict[str, Any]]:
    return {tool["function"]["name"]: tool["function"] for tool in server.bodies[-1]["tools"]}


@pytest.mark.parametrize(("window", "short"), [(31_999, True), (32_000, False)])
def test_a_small_window_gets_short_descriptions(program: Program, window: int, short: bool) -> None:
    known(program, window)
    with ServerThread("say: Hello.") as server:
        env = {"LLAMACPP_BASE_URL": server.openai_url}
        argv = ("hi", "--model", MODEL, "--tools", "Read,Bash")
        with program.terminal(*argv, env=env) as terminal:
            terminal.wait_for("Hello.")
    specs = BuiltinTools(("Read", "Bash")).specs(short=short)
    assert {name: tool["description"] for name, tool in offered(server).items()} == {
        spec.name: spec.description for spec in specs
    }


def test_print_mode_is_short_whatever_the_window(program: Program) -> None:
    known(program, 200_000)
    with ServerThread("say: Hello.") as server:
        env = {"LLAMACPP_BASE_URL": server.openai_url}
        done = program.run("-p", "hi", "--model", MODEL, "--tools", "Read,Bash", env=env)
    assert (done.returncode, done.stderr) == (0, "")
    specs = BuiltinTools(("Read", "Bash")).specs(short=True)
    assert {name: tool["description"] for name, tool in offered(server).items()} == {
        spec.name: spec.description for spec in specs
    }


def test_core_runs_nothing_in_the_background(program: Program) -> None:
    call = 'call: Bash {"command": "echo ran > here", "run_in_background": true}'
    with ServerThread(f"{call}\n---\nsay: Done.") as server:
        env = {"LLAMACPP_BASE_URL": server.openai_url}
        done = program.run("-p", "go", "-y", "--model", MODEL, "--tools", "core", env=env)
    assert (done.returncode, done.stdout) == (0, "Done.\n")
    assert sorted(offered(server)) == ["Bash", "Edit", "Glob", "Grep", "Read", "Write"]
    assert "background" not in json.dumps(server.bodies[0])
    assert "Nothing can run in the background here." in json.dumps(server.bodies[1]["messages"])
    assert not (program.project / "here").exists()
