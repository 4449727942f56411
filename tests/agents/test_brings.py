"""Hooks and servers of a definition: for its agents alone, and only as long as they work."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.agents.kind import AgentKind
from gatewright.agent.errors import SessionError
from gatewright.agent.extensions.agent_types.plugging import AgentTypes
from gatewright.agent.extensions.hooks import Hooks
from tests.mcp.test_session import fake
from tests.permissions.composed import Desk, desk

DENY = (
    'echo \'{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": '
    '"deny", "permissionDecisionReason": "Not by this agent."}}\''
)
HOOKS = {"PreToolUse": [{"matcher": "Glob", "hooks": [{"type": "command", "command": DENY}]}]}


def kind(name: str = "a", **more: Any) -> AgentKind:
    return AgentKind(name=name, description="d", prompt="p", origin="user", **more)


def types(made: Desk) -> AgentTypes:
    found = made.session.part(AgentTypes)
    assert found is not None
    return found


@pytest.mark.parametrize(("agent", "denied"), [("main", True), ("main/a1", False)])
async def test_hooks_hear_of_one_agent_alone(tmp_path: Path, agent: str, denied: bool) -> None:
    script = ['call[c1]: Glob {"pattern": "*.py"}', 'call[c2]: Glob {"pattern": "*.md"}', "say: x"]
    async with desk(tmp_path, script) as made:
        brings = types(made).brings
        await brings.begin(agent, kind(hooks=HOOKS))
        made.session.submit("go")
        assert ("Not by this agent." in await made.finished("c1")) is denied
        await made.ended()


async def test_they_are_gone_with_the_agent(tmp_path: Path) -> None:
    async with desk(tmp_path, ['call[c1]: Glob {"pattern": "*.py"}', "say: x"]) as made:
        brings = types(made).brings
        await brings.begin("main", kind(hooks=HOOKS))
        hooks = made.session.part(Hooks)
        assert hooks is not None
        (row,) = hooks.rows()
        assert (row.handler.place.origin, row.handler.place.name) == ("agent", "a")
        brings.end("main")
        assert hooks.rows() == []
        made.session.submit("go")
        assert "Not by this agent." not in await made.finished("c1")
        await made.ended()


async def test_a_stop_is_the_end_of_that_agent(tmp_path: Path) -> None:
    group = [{"hooks": [{"type": "command", "command": "true"}]}]
    async with desk(tmp_path, ["say: x"]) as made:
        await types(made).brings.begin("main/a1", kind(hooks={"Stop": group}))
        hooks = made.session.part(Hooks)
        assert hooks is not None
        assert [row.handler.event for row in hooks.rows()] == ["SubagentStop"]


def own_server(**more: Any) -> AgentKind:
    return kind(inline_servers={"local": fake()}, required_servers=("local",), **more)


async def test_a_server_of_its_own_is_called(tmp_path: Path) -> None:
    script = ['call[c1]: mcp__local__echo {"text": "hi"}', "say: x"]
    rules = {"permissions": {"allow": ["mcp__local__*"]}}
    async with desk(tmp_path, script, own=rules) as made:
        brings = types(made).brings
        await brings.begin("main", own_server())
        assert "mcp__local__echo" in {spec.name for spec in brings.own("main", own_server())}
        assert list(brings.own("main/a1", own_server())) == []
        made.session.submit("go")
        assert await made.finished("c1") == "hi"
        await made.ended()
        offered = {tool["name"] for tool in made.server.bodies[0]["tools"]}
        assert not {name for name in offered if name.startswith("mcp__local")}


async def test_nobody_else_calls_it(tmp_path: Path) -> None:
    script = ['call[c1]: mcp__local__echo {"text": "hi"}', "say: x"]
    rules = {"permissions": {"allow": ["mcp__local__*"]}}
    async with desk(tmp_path, script, own=rules) as made:
        await types(made).brings.begin("main/a1", own_server())
        made.session.submit("go")
        assert "for agents of another type alone" in await made.finished("c1")
        await made.ended()
        assert "mcp__local" not in str(made.server.bodies)[: str(made.server.bodies).find("c1")]


async def test_agents_of_one_type_share_it_until_the_last_is_gone(tmp_path: Path) -> None:
    async with desk(tmp_path, ["say: x"]) as made:
        brings = types(made).brings
        await brings.begin("main/a1", own_server())
        await brings.begin("main/a2", own_server())
        tool = brings.find("mcp__local__echo")
        assert tool is not None
        with pytest.raises(SessionError, match="has a server local, too"):
            await brings.begin("main/a3", kind("b", inline_servers={"local": fake("--slow")}))
        brings.end("main/a1")
        assert brings.find("mcp__local__echo") is not None
        brings.end("main/a2")
        assert brings.find("mcp__local__echo") is None


@pytest.mark.parametrize(
    ("entries", "told"),
    [
        ({"local": {"command": 5}}, "command"),
        ({"fake": fake()}, "there is an MCP server fake already"),
        ({"denied": fake()}, "denied"),
    ],
)
async def test_what_cannot_be_ends_the_start(
    tmp_path: Path, entries: Mapping[str, Any], told: str
) -> None:
    own = {"mcpServers": {"fake": fake()}, "deniedMcpServers": [{"serverName": "denied"}]}
    async with desk(tmp_path, ["say: x"], own=own) as made:
        with pytest.raises(SessionError, match=told):
            await types(made).brings.begin("main/a1", kind(inline_servers=entries))


async def test_one_it_cannot_do_without_has_to_connect(tmp_path: Path) -> None:
    async with desk(tmp_path, ["say: x"]) as made:
        brings = types(made).brings
        with pytest.raises(SessionError, match="local is not connected"):
            await brings.begin(
                "main/a1",
                kind(inline_servers={"local": fake("--die")}, required_servers=("local",)),
            )
        assert list(brings.own("main/a1", own_server())) == []
