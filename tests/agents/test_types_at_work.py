"""Definitions in a whole session: what the model is told of them, and what their agents may."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.agents import stop_marks
from gatewright.agent.agents.stop_marks import mark_of
from gatewright.agent.context.tool_sources import ToolSources
from gatewright.agent.extensions.servers import plugging
from gatewright.agent.record.events import AgentFinished, AgentStarted, Asked, ToolStarted
from gatewright.mcp import servers
from gatewright.tools.blocks import plain
from tests.agents.definition_files import definition
from tests.agents.test_brings import DENY
from tests.mcp.test_session import fake
from tests.permissions.composed import Desk, desk


def define(folder: Path, name: str, more: str = "", where: str = "project/.claude/agents") -> Path:
    path = folder / where / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(definition(name, more), encoding="utf-8")
    return path


def start(kind: str, id: str = "c1") -> str:
    call = {"description": "try it", "prompt": "Do it.", "subagent_type": kind}
    return f"call[{id}]: Agent {json.dumps(call)}"


def offered(body: dict[str, Any]) -> dict[str, str]:
    return {tool["name"]: tool["description"] for tool in body["tools"]}


async def ran(made: Desk, id: str = "c1") -> str:
    made.session.submit("go")
    text = await made.finished(id)
    await made.ended()
    return text


async def test_the_model_is_told_of_them_and_its_agent_is_one(tmp_path: Path) -> None:
    define(tmp_path, "reader", "tools: Read, Grep\ndisallowedTools: Grep\nmaxTurns: 3")
    define(tmp_path, "mine", where="home/.claude/agents")
    async with desk(tmp_path, [start("reader"), "say: found it", "say: done"]) as made:
        assert "found it" in await ran(made)
        first, child, _ = made.server.bodies
        told = offered(first)["Agent"]
        assert "- mine: About mine." in told
        assert "- reader: About reader. (tools: Read, Grep)" in told
        assert set(offered(child)) == {"Read"}
        system = json.dumps(child["system"])
        assert "You work." in system
        assert "You are Gatewright" not in system


@pytest.mark.parametrize(
    ("own", "told"),
    [
        ({"agents": {"disabled": ["reader"]}}, "agents.disabled names it"),
        ({"permissions": {"deny": ["Agent(reader)"]}}, "A deny rule forbids it: Agent(reader)"),
        ({}, ""),
    ],
)
async def test_one_that_is_taken_away_is_not_started(
    tmp_path: Path, own: dict[str, Any], told: str
) -> None:
    define(tmp_path, "reader")
    script = [start("reader"), *(() if told else ("say: child",)), "say: done"]
    async with desk(tmp_path, script, own=own) as made:
        text = await ran(made)
        assert told in text
        assert ("reader: About" in offered(made.server.bodies[0])["Agent"]) is not bool(told)
        assert bool(made.seen.of(AgentFinished)) is not bool(told)


async def test_what_acts_of_an_untrusted_project_starts_nothing(tmp_path: Path) -> None:
    define(tmp_path, "evil", "hooks: {Stop: [{hooks: [{type: command, command: touch ran}]}]}")
    define(tmp_path, "Plan")
    script = [start("evil"), start("Plan", "c2"), "say: explored", "say: done"]
    async with desk(tmp_path, script, trust=False) as made:
        made.answer(await made.asked(), "continue")
        made.session.submit("go")
        assert "once the person trusts this project" in await made.finished("c1")
        assert "explored" in await made.finished("c2")
        await made.ended()
        assert "evil" not in offered(made.server.bodies[0])["Agent"]
        assert "You work out how a change" in json.dumps(made.server.bodies[2]["system"])
    assert not (tmp_path / "project" / "ran").exists()


async def test_hooks_of_a_definition_hear_of_its_agent_alone(tmp_path: Path) -> None:
    group = [{"matcher": "Glob", "hooks": [{"type": "command", "command": DENY}]}]
    define(tmp_path, "guarded", f"hooks: {json.dumps({'PreToolUse': group})}")
    look = 'Glob {"pattern": "*.py"}'
    script = [start("guarded"), f"call[k1]: {look}", "say: no", f"call[c2]: {look}", "say: done"]
    async with desk(tmp_path, script) as made:
        made.session.submit("go")
        assert "Not by this agent." not in await made.finished("c2")
        await made.ended()
        assert "Not by this agent." in json.dumps(made.server.bodies[2]["messages"])


async def test_a_server_of_a_definition_is_its_agents_alone(tmp_path: Path) -> None:
    own = json.dumps([{"local": fake()}])
    define(tmp_path, "served", f"tools: mcp__local\nrequiredMcpServers: local\nmcpServers: {own}")
    echo = 'mcp__local__echo {"text": "hi"}'
    script = [start("served"), f"call[k1]: {echo}", "say: ok", f"call[c2]: {echo}", "say: done"]
    rules = {"permissions": {"allow": ["mcp__local__*"]}}
    async with desk(tmp_path, script, own=rules) as made:
        made.session.submit("go")
        await made.finished("c1")
        result = await made.finished("c2")
        await made.ended()
        main, child, after = made.server.bodies[:3]
        assert "mcp__local__echo" in offered(child)
        assert "mcp__local__echo" not in offered(main)
        assert '"hi"' in json.dumps(after["messages"][-1])
        assert result != "hi"


def late(folder: Path) -> dict[str, Any]:
    """A server that is not there before the file `go` is."""
    wait = 'until [ -e "$0" ]; do sleep 0.02; done; exec "$@"'
    usual = fake()
    args = ["-c", wait, str(folder / "go"), usual["command"], *usual["args"]]
    return {"mcpServers": {"local": {"command": "/bin/sh", "args": args}}}


async def test_a_server_it_cannot_do_without_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(servers, "FIRST_WAIT", 0.02)  # what others wait for one
    define(tmp_path, "served", "tools: mcp__local\nrequiredMcpServers: local")
    script = [start("served"), "say: there", "say: done"]
    async with desk(tmp_path, script, own=late(tmp_path)) as made:
        made.session.submit("go")
        await made.seen.until(ToolStarted)
        sources = made.session.part(ToolSources)
        assert sources is not None
        await sources.settled()
        (tmp_path / "go").touch()
        assert "there" in await made.finished("c1")
        await made.ended()
        assert "mcp__local__echo" in offered(made.server.bodies[1])


async def test_a_server_that_does_not_come_keeps_it_from_starting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plugging, "NEEDED", 0.05)
    define(tmp_path, "served", "requiredMcpServers: [local, other]")
    script = [start("served"), "say: done"]
    async with desk(tmp_path, script, own=late(tmp_path)) as made:
        assert "needs the MCP server local, other, which is not there" in await ran(made)
        assert made.seen.of(AgentStarted) == []


async def test_it_remembers(tmp_path: Path) -> None:
    define(tmp_path, "keeper", "memory: project")
    folder = tmp_path / "project/.gatewright/agent-memory/keeper"
    folder.mkdir(parents=True)
    (folder / "MEMORY.md").write_text("The key is under the mat.", encoding="utf-8")
    write = {"file_path": str(folder / "MEMORY.md"), "content": "It moved."}
    read = json.dumps({"file_path": str(folder / "MEMORY.md")})
    script = [
        start("keeper"), f"call[k0]: Read {read}", f"call[k1]: Write {json.dumps(write)}",
        "say: kept", "say: done",
    ]  # fmt: skip
    async with desk(tmp_path, script, mode="dontAsk") as made:
        assert "kept" in await ran(made)
        assert "under the mat" in json.dumps(made.server.bodies[1]["system"])
    assert (folder / "MEMORY.md").read_text(encoding="utf-8") == "It moved."


async def test_it_starts_only_what_its_definition_says(tmp_path: Path) -> None:
    define(tmp_path, "lead", "tools: Agent(worker)")
    define(tmp_path, "worker")
    inner = start("Explore", "k1")
    async with desk(tmp_path, [start("lead"), inner, "say: I may not", "say: done"]) as made:
        assert "I may not" in await ran(made)
        told = json.dumps(made.server.bodies[2]["messages"][-1])
        assert "This agent may not start Explore. It may start: worker." in told


async def test_one_that_comes_later_is_told(tmp_path: Path) -> None:
    async with desk(tmp_path, ["say: one", "say: two", "say: three"]) as made:
        made.session.submit("go")
        await made.ended()
        path = define(tmp_path, "late")
        made.session.submit("and")
        await made.ended(2)
        path.unlink()
        made.session.submit("again")
        await made.ended(3)
        first, second, third = made.server.bodies
        assert first["tools"] == second["tools"] == third["tools"]
        assert "- late: About late." in json.dumps(second["messages"])
        assert "nothing of what was said holds" in json.dumps(third["messages"])


async def test_definitions_of_a_client_count(tmp_path: Path) -> None:
    agents = json.dumps({"given": {"description": "Given.", "prompt": "You are given."}})
    script = [start("given"), "say: given", "say: done"]
    async with desk(tmp_path, script, options={"agents": agents}) as made:
        assert "given" in await ran(made)
        assert "- given: Given." in offered(made.server.bodies[0])["Agent"]
        assert "You are given." in json.dumps(made.server.bodies[1]["system"])


async def test_the_question_of_trust_says_what_they_would_do(tmp_path: Path) -> None:
    group = [{"matcher": "Glob", "hooks": [{"type": "command", "command": "./theirs.sh"}]}]
    define(tmp_path / "a", "harmless")
    async with desk(tmp_path / "a", ["say: x"], trust=False) as made:
        made.session.submit("go")
        await made.ended()
        assert made.seen.of(Asked) == []
    define(tmp_path / "b", "one", f"hooks: {json.dumps({'PreToolUse': group})}")
    define(tmp_path / "b", "two", "mcpServers: [{far: {command: evil, args: [now]}}]")
    define(tmp_path / "b", "three", "permissionMode: bypassPermissions")
    define(tmp_path / "b", "Plan")
    async with desk(tmp_path / "b", ["say: x"], trust=False) as made:
        asked = await made.asked()
        assert asked.ask.kind == "trust"
        text = "\n".join(map(plain, asked.ask.body))
        for told in (
            "./theirs.sh",
            "MCP server far: evil now of agent two",
            "permissionMode = bypassPermissions of agent three",
            "agent Plan in place of the built-in",
        ):
            assert told in text
        assert "harmless" not in text
        made.answer(asked, "continue")
        made.session.submit("go")
        await made.ended()


async def test_one_is_stopped_from_another_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stop_marks, "BETWEEN", 0.0)
    define(tmp_path, "busy")
    look = 'call[k1]: Glob {"pattern": "*.py"}'
    script = [start("busy"), f"wait: here\n{look}", "say: never", "say: done"]
    async with desk(tmp_path, script) as made:
        made.session.submit("go")
        await made.server.reached("here")
        started = await made.seen.until(AgentStarted)
        id = started.child.rpartition("/")[2]
        (folder,) = tmp_path.glob("home/**/agents")
        mark_of(folder, id).touch()
        made.server.release("here")
        ended = await made.seen.until(AgentFinished)
        assert ended.status == "stopped"
        await made.ended()
        assert not mark_of(folder, id).exists()


@pytest.mark.parametrize(
    ("command", "runs"),
    [
        ("git log --oneline", True),
        ("git log && touch here", False),
        ("touch here", False),
        ("git log > here", False),
    ],
)
async def test_a_rule_among_its_tools_limits_it(tmp_path: Path, command: str, runs: bool) -> None:
    define(tmp_path, "looker", "tools: Read, Bash(git log:*)")
    call = f"call[k1]: Bash {json.dumps({'command': command})}"
    script = [start("looker"), call, "say: looked", "say: done"]
    async with desk(tmp_path, script, mode="bypassPermissions") as made:
        assert "looked" in await ran(made)
        assert "Bash" in offered(made.server.bodies[1])
        told = json.dumps(made.server.bodies[2]["messages"][-1])
        assert ("is not among what may be used here" in told) is not runs
    assert not (tmp_path / "project" / "here").exists()


@pytest.mark.parametrize(
    ("model", "room"), [("claude-sonnet-5-5", 40_000), ("claude-opus-4-5", 8_000)]
)
async def test_the_list_takes_a_hundredth_of_the_window_that_the_model_has(
    tmp_path: Path, model: str, room: int
) -> None:
    """Its agents' models have windows of their own."""
    for number in range(60):
        define(tmp_path, f"long-{number:02}", f"skills: x\ncolor: red\n# {'-' * 10}")
        path = tmp_path / f"project/.claude/agents/long-{number:02}.md"
        text = path.read_text(encoding="utf-8").replace("About", f"About {'word ' * 90}")
        path.write_text(text, encoding="utf-8")
    define(tmp_path, "lesser", "model: anthropic/claude-opus-4-5")
    script = [start("lesser"), "say: found it", "say: done"]
    options = {"model": f"anthropic/{model}"}
    async with desk(tmp_path, script, options=options) as made:
        await ran(made)
        first, child, _ = made.server.bodies
        sizes = [
            len(offered(body)["Agent"][offered(body)["Agent"].index("- Explore:") :])
            for body in (first, child)
        ]
    assert room * 0.6 < sizes[0] <= room
    assert 4_000 < sizes[1] <= 8_000
