"""Hooks that are tools of servers: judged, bounded, and read like what a command prints."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.hooks.kinds.server_tools import filled_in
from gatewright.agent.record.events import Asked, Decided, HookRan
from tests.fakes.near_server import NEAR, Near, instead
from tests.mcp.test_session import connected
from tests.permissions.composed import desk, write_settings

TOOLS = {"tools": [{"name": "check", "inputSchema": {"type": "object"}}]}
SCRIPT = ['call[c1]: Glob {"pattern": "*.py"}', "say: done"]
HOOK = {"type": "mcp_tool", "server": "fake", "tool": "check", "strict": True}
DENIES = {
    "hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": "Not on Fridays.",
    }
}


def hooks(**more: Any) -> dict[str, Any]:
    one = {**HOOK, "input": {"what": "${tool_input.pattern}"}, **more}
    return {"hooks": {"PreToolUse": [{"matcher": "Glob", "hooks": [one]}]}}


def near(said: str, *, error: bool = False) -> Near:
    result = {"content": [{"type": "text", "text": said}], "isError": error}
    return Near({"tools/list": TOOLS, "tools/call": result})


def test_places_are_filled_in() -> None:
    given = {"a": {"b": [1, {"c": "x"}]}, "n": 3}
    template = {"all": "${a.b}", "deep": "${a.b.1.c}", "text": "n=${n}, ${no.where}", "k": [True]}
    assert filled_in(template, given) == {
        "all": [1, {"c": "x"}], "deep": "x", "text": "n=3, ", "k": [True],
    }  # fmt: skip


async def test_its_text_is_the_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = near(json.dumps(DENIES))
    instead(monkeypatch, server)
    async with desk(tmp_path, SCRIPT, own={"mcpServers": {"fake": NEAR}, **hooks()}) as made:
        await connected(made)
        made.session.submit("go")
        assert "Not on Fridays." in await made.finished("c1")
        await made.ended()
        (call,) = server.of("tools/call")
        assert (call["name"], call["arguments"]) == ("check", {"what": "*.py"})
        own = [each for each in made.seen.of(Decided) if each.tool == "mcp__fake__check"]
        assert [each.behavior for each in own] == ["allow"]
        assert not made.seen.of(Asked)


@pytest.mark.parametrize(
    ("more", "rules", "error", "why"),
    [
        ({"server": "other"}, {}, False, "the server other is not connected"),
        ({"tool": "other"}, {}, False, "has no tool other"),
        ({}, {}, True, "it says no"),
        ({}, {"deny": ["mcp__fake"]}, False, "mcp__fake"),
    ],
)
async def test_where_it_fails_it_is_a_failure(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    more: dict[str, Any],
    rules: dict[str, Any],
    error: bool,
    why: str,
) -> None:
    instead(monkeypatch, near("it says no", error=error))
    own = {"mcpServers": {"fake": NEAR}, "permissions": rules, **hooks(**more)}
    async with desk(tmp_path, SCRIPT, own=own) as made:
        await connected(made)
        made.session.submit("go")
        refused = await made.finished("c1")
        await made.ended()
        (ran,) = made.seen.of(HookRan)
        assert ran.outcome == "error"
        assert why in ran.message + refused
        assert not made.seen.of(Asked)


async def test_of_a_project_it_is_allowed_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = near("fine")
    instead(monkeypatch, server)
    (tmp_path / "project").mkdir()
    write_settings(tmp_path / "project", hooks())
    async with desk(tmp_path, SCRIPT, own={"mcpServers": {"fake": NEAR}}) as made:
        await connected(made)
        made.session.submit("go")
        await made.ended()
        (ran,) = made.seen.of(HookRan)
        assert "nobody is asked about it" in ran.message
        assert not server.of("tools/call")


@pytest.mark.parametrize("matcher", ["mcp__fake__check", "*"])
async def test_other_hooks_hear_of_its_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, matcher: str
) -> None:
    """But no hook of its kind does: that would make a call of its own, and so on."""
    server = near(json.dumps({}))
    instead(monkeypatch, server)
    heard = tmp_path / "heard"
    other = {"type": "command", "command": f"cat >> {heard}; echo Not to him. >&2; exit 2"}
    own = hooks()
    own["hooks"]["PreToolUse"] += [
        {"matcher": "mcp__fake__check", "hooks": [other]},
        {"matcher": matcher, "hooks": [HOOK]},
    ]
    async with desk(tmp_path, SCRIPT, own={"mcpServers": {"fake": NEAR}, **own}) as made:
        await connected(made)
        made.session.submit("go")
        await made.ended()
        assert not server.of("tools/call"), "a hook refused it"
        told = heard.read_text(encoding="utf-8")
        assert '"tool_name": "mcp__fake__check"' in told.replace('":"', '": "')
        assert any("Not to him." in ran.message for ran in made.seen.of(HookRan))


async def test_what_another_hook_makes_of_its_call_is_what_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = near(json.dumps({}))
    instead(monkeypatch, server)
    said = {"hookEventName": "PreToolUse", "updatedInput": {"what": "less"}}
    print_it = f"echo '{json.dumps({'hookSpecificOutput': said})}'"
    own = hooks()
    own["hooks"]["PreToolUse"].append(
        {"matcher": "mcp__fake__check", "hooks": [{"type": "command", "command": print_it}]}
    )
    async with desk(tmp_path, SCRIPT, own={"mcpServers": {"fake": NEAR}, **own}) as made:
        await connected(made)
        made.session.submit("go")
        await made.ended()
        (call,) = server.of("tools/call")
        assert call["arguments"] == {"what": "less"}


@pytest.mark.parametrize("rules", [{}, {"permissions": {"allow": ["mcp__fake__check"]}}])
async def test_a_server_of_a_project_is_not_the_one_that_the_person_meant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rules: dict[str, Any]
) -> None:
    """Its word would count as the person's, and it is told what the hook is."""
    server = near("fine")
    instead(monkeypatch, server)
    (tmp_path / "project").mkdir()
    text = json.dumps({"mcpServers": {"fake": NEAR}})
    (tmp_path / "project" / ".mcp.json").write_text(text, encoding="utf-8")
    own = {"enableAllProjectMcpServers": True, **hooks(), **rules}
    async with desk(tmp_path, SCRIPT, own=own) as made:
        await connected(made)
        made.session.submit("go")
        await made.ended()
        (ran,) = made.seen.of(HookRan)
        assert ("nobody is asked about it" in ran.message) is not bool(rules)
        assert bool(server.of("tools/call")) is bool(rules)
