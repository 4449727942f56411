"""A tool of a server that answers in print mode in the person's place."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.frontends import plain
from gatewright.agent.frontends.sdk import stream
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.record.events import Answered, Decided
from tests.fakes.near_server import NEAR, Near, instead
from tests.mcp.test_session import connected
from tests.permissions.composed import desk

NAME = "mcp__fake__judge"
TOOLS = {
    "tools": [
        {"name": "judge", "inputSchema": {"type": "object"}},
        {
            "name": "person",
            "inputSchema": {"type": "object"},
            "_meta": {"anthropic/requiresUserInteraction": True},
        },
    ]
}
WRITE = 'call[c1]: Write {"file_path": "a.txt", "content": "x"}'


def near(said: Any, *, error: bool = False) -> Near:
    text = said if isinstance(said, str) else json.dumps(said)

    def call(params: dict[str, Any]) -> dict[str, Any]:
        words = text if params["name"] == "judge" else "it ran"
        return {"content": [{"type": "text", "text": words}], "isError": error}

    return Near({"tools/list": TOOLS, "tools/call": call})


OPTIONS = LaunchOptions(prompt="go", print_mode=True, permission_prompt_tool=NAME)


@pytest.mark.parametrize("lines", [False, True])
@pytest.mark.parametrize(
    ("said", "error", "behavior", "text"),
    [
        ({"behavior": "allow"}, False, "allow", "x"),
        (
            {"behavior": "allow", "updatedInput": {"file_path": "a.txt", "content": "y"}},
            False,
            "allow",
            "y",
        ),
        ({"behavior": "deny", "message": "Not now."}, False, "deny", ""),
        ("yes", False, "deny", ""),
        ({"behavior": "allow"}, True, "deny", ""),
        (
            {"behavior": "allow", "updatedPermissions": [{"type": "setMode", "mode": "bypass"}]},
            False,
            "allow",
            "x",
        ),
    ],
)
async def test_its_word_counts(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    said: Any,
    error: bool,
    behavior: str,
    text: str,
    lines: bool,
) -> None:
    server = near(said, error=error)
    instead(monkeypatch, server)
    options = {"print_mode": True, "permission_prompt_tool": NAME}
    own = {"mcpServers": {"fake": NEAR}}
    async with desk(tmp_path, [WRITE, "say: done"], own=own, options=options) as made:
        await connected(made)
        out, err = io.StringIO(), io.StringIO()
        if lines:
            await stream.run(made.session, OPTIONS, out, err)
        else:
            await plain.run(made.session, OPTIONS, out, err)
        of_write = [each for each in made.seen.of(Decided) if each.tool == "Write"]
        assert [each.behavior for each in of_write] == [behavior]
        path = made.project / "a.txt"
        assert (path.read_text(encoding="utf-8") if path.exists() else "") == text
        (asked,) = server.of("tools/call")
        assert asked["arguments"]["tool_name"] == "Write"
        assert asked["arguments"]["input"]["content"] == "x"
        assert asked["arguments"]["tool_use_id"] == "c1"
        assert made.session.mode == "default"


@pytest.mark.parametrize("lines", [False, True])
async def test_it_is_shown_what_would_run_and_not_what_carries_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: bool
) -> None:
    """Beside the carried input the model may write another one."""
    server = near({"behavior": "deny"})
    instead(monkeypatch, server)
    options = {"print_mode": True, "permission_prompt_tool": NAME}
    own = {"mcpServers": {"fake": NEAR}, "mcp": {"toolSearch": "always"}}
    inner = {"file_path": "real.txt", "content": "x"}
    call = json.dumps({"name": "Write", "input": inner, "file_path": "other.txt"})
    script = [f"call[c1]: CallTool {call}", "say: done"]
    async with desk(tmp_path, script, own=own, options=options) as made:
        await connected(made)
        out = io.StringIO()
        await (stream if lines else plain).run(made.session, OPTIONS, out, io.StringIO())
        (asked,) = server.of("tools/call")
        assert (asked["arguments"]["tool_name"], asked["arguments"]["input"]) == ("Write", inner)
        if lines:
            (denied,) = json.loads(out.getvalue().splitlines()[-1])["permission_denials"]
            assert denied["tool_input"] == inner


@pytest.mark.parametrize(
    ("script", "rules", "calls"),
    [
        (WRITE, {"deny": [NAME]}, []),
        ("call[c1]: mcp__fake__person {}", {}, []),
    ],
)
async def test_where_its_yes_is_none(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    script: str,
    rules: dict[str, Any],
    calls: list[str],
) -> None:
    server = near({"behavior": "allow"})
    instead(monkeypatch, server)
    options = {"print_mode": True, "permission_prompt_tool": NAME}
    own = {"mcpServers": {"fake": NEAR}, "permissions": rules}
    async with desk(tmp_path, [script, "say: done"], own=own, options=options) as made:
        await connected(made)
        await plain.run(made.session, OPTIONS, io.StringIO(), io.StringIO())
        assert [each["name"] for each in server.of("tools/call")] == calls
        assert made.seen.of(Answered)
        assert not (made.project / "a.txt").exists()


@pytest.mark.parametrize("lines", [False, True])
async def test_it_judges_what_a_hook_made_of_the_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: bool
) -> None:
    """And what it was shown is what runs, also where it says the whole input again."""
    seen: list[Any] = []

    def judge(params: dict[str, Any]) -> dict[str, Any]:
        seen.append(params["arguments"]["input"])
        said = {"behavior": "allow", "updatedInput": seen[-1]}
        return {"content": [{"type": "text", "text": json.dumps(said)}]}

    instead(monkeypatch, Near({"tools/list": TOOLS, "tools/call": judge}))
    changed = {"file_path": "a.txt", "content": "of the hook"}
    answer = {"hookEventName": "PreToolUse", "updatedInput": changed}
    hook = {"type": "command", "command": f"echo '{json.dumps({'hookSpecificOutput': answer})}'"}
    own = {
        "mcpServers": {"fake": NEAR},
        "hooks": {"PreToolUse": [{"matcher": "Write", "hooks": [hook]}]},
    }
    options = {"print_mode": True, "permission_prompt_tool": NAME}
    async with desk(tmp_path, [WRITE, "say: done"], own=own, options=options) as made:
        await connected(made)
        if lines:
            await stream.run(made.session, OPTIONS, io.StringIO(), io.StringIO())
        else:
            await plain.run(made.session, OPTIONS, io.StringIO(), io.StringIO())
        (judged,) = seen
        assert {key: judged[key] for key in changed} == changed
        assert (tmp_path / "project" / "a.txt").read_text("utf-8") == "of the hook"
