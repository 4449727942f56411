"""A small model behind a local server: what the server lacks is said, and never success."""

from __future__ import annotations

import json

import pytest

from tests.e2e.program import Program
from tests.fakes.model_server import ServerThread

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(30)]

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
