"""One turn of text and one with two tool calls, in both APIs, as the server sees them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.e2e.program import Program
from tests.fakes.model_server import ModelServer, ServerThread

ANTHROPIC = "anthropic/claude-sonnet-5-5"
OPENAI = "openai/gpt-6-luna"
READ = {"file_path": "notes.txt"}
GREP = {"pattern": "beta", "output_mode": "content"}
TWO_CALLS = f"""
say: I will look.
call[c1]: Read {json.dumps(READ)}
call[c2]: Grep {json.dumps(GREP)}
---
say: Two lines, beta is the second.
"""

pytestmark = pytest.mark.e2e


def keys(server: ModelServer) -> dict[str, str]:
    return {
        "ANTHROPIC_BASE_URL": server.url,
        "ANTHROPIC_API_KEY": "secret-a",
        "OPENAI_BASE_URL": server.openai_url,
        "OPENAI_API_KEY": "secret-o",
    }


def texts(content: Any) -> list[str]:
    """The text blocks of a message, in whichever of the two shapes."""
    if isinstance(content, str):
        return [content]
    return [block["text"] for block in content if block["type"] == "text"]


def test_anthropic_text(program: Program) -> None:
    with ServerThread("say: Hello from afar.") as server:
        done = program.run("-p", "Say hello.", "--model", ANTHROPIC, env=keys(server))
    assert (done.returncode, done.stdout, done.stderr) == (0, "Hello from afar.\n", "")
    (request,) = server.requests
    assert (request.method, request.path) == ("POST", "/v1/messages")
    assert request.headers["x-api-key"] == "secret-a"
    body = request.body
    assert (body["model"], body["stream"]) == ("claude-sonnet-5-5", True)
    assert [message["role"] for message in body["messages"]] == ["user"]
    assert texts(body["messages"][0]["content"]) == ["Say hello."]
    assert str(program.project) in "".join(texts(body["system"]))
    assert {"Read", "Bash"} < {tool["name"] for tool in body["tools"]}


def test_anthropic_two_calls(program: Program) -> None:
    with ServerThread(TWO_CALLS) as server:
        done = program.run("-p", "Look.", "--model", ANTHROPIC, env=keys(server))
    assert (done.returncode, done.stdout) == (0, "Two lines, beta is the second.\n"), done.stderr
    first, second = server.bodies
    user, assistant, results = second["messages"]
    assert (user["role"], assistant["role"], results["role"]) == ("user", "assistant", "user")
    assert texts(assistant["content"]) == ["I will look."]
    calls = [block for block in assistant["content"] if block["type"] == "tool_use"]
    assert [(c["id"], c["name"], c["input"]) for c in calls] == [
        ("c1", "Read", READ),
        ("c2", "Grep", GREP),
    ]
    answers = {block["tool_use_id"]: block for block in results["content"]}
    assert list(answers) == ["c1", "c2"]
    assert "alpha" in texts(answers["c1"]["content"])[0]
    assert "beta" in texts(answers["c2"]["content"])[0]
    assert not any(answer.get("is_error") for answer in answers.values())
    assert (first["system"], first["tools"]) == (second["system"], second["tools"])


def test_openai_text(program: Program) -> None:
    with ServerThread("say: Hello from afar.") as server:
        done = program.run("-p", "Say hello.", "--model", OPENAI, env=keys(server))
    assert (done.returncode, done.stdout, done.stderr) == (0, "Hello from afar.\n", "")
    (request,) = server.requests
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == "Bearer secret-o"
    body = request.body
    assert (body["model"], body["stream"]) == ("gpt-6-luna", True)
    assert [message["role"] for message in body["messages"]][-1] == "user"
    assert texts(body["messages"][-1]["content"]) == ["Say hello."]
    assert {"Read", "Bash"} < {tool["function"]["name"] for tool in body["tools"]}


def test_openai_two_calls(program: Program) -> None:
    with ServerThread(TWO_CALLS) as server:
        done = program.run("-p", "Look.", "--model", OPENAI, env=keys(server))
    assert (done.returncode, done.stdout) == (0, "Two lines, beta is the second.\n"), done.stderr
    first, second = server.bodies
    *_, user, assistant, one, two = second["messages"]
    roles = [message["role"] for message in (user, assistant, one, two)]
    assert roles == ["user", "assistant", "tool", "tool"]
    calls = [(c["id"], c["function"]["name"]) for c in assistant["tool_calls"]]
    assert calls == [("c1", "Read"), ("c2", "Grep")]
    assert [json.loads(c["function"]["arguments"]) for c in assistant["tool_calls"]] == [READ, GREP]
    assert (one["tool_call_id"], two["tool_call_id"]) == ("c1", "c2")
    assert "alpha" in texts(one["content"])[0]
    assert "beta" in texts(two["content"])[0]
    assert first["tools"] == second["tools"]


@pytest.mark.parametrize(
    ("script", "says"),
    [("error: auth status=401", "key"), ("status: 404 body={}", "404")],
    ids=["bad key", "wrong address"],
)
def test_a_refusal_says_what_to_do(program: Program, script: str, says: str) -> None:
    with ServerThread(script) as server:
        done = program.run("-p", "Hi.", "--model", ANTHROPIC, env=keys(server))
    assert done.returncode == 1
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_no_key_says_what_to_do(program: Program) -> None:
    done = program.run("-p", "Hi.")
    assert done.returncode == 1
    assert "ANTHROPIC_API_KEY" in done.stderr
    assert "demo" in done.stderr
