"""Agents as Claude Code's public Python client sees them: messages, tasks, hooks, consent."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.e2e.program import Program
from tests.fakes.narrow_server import NarrowServer
from tests.fakes.waiting import PATIENCE
from tests.sdk.judging import Judge, one

sdk = pytest.importorskip("claude_agent_sdk")

from claude_agent_sdk import (  # noqa: E402  only where it is installed
    AgentDefinition,
    AssistantMessage,
    ClaudeSDKClient,
    HookMatcher,
    Message,
    PermissionResultAllow,
    ResultMessage,
    TaskNotificationMessage,
    TaskStartedMessage,
    TaskUpdatedMessage,
    TextBlock,
    ToolPermissionContext,
    UserMessage,
)

pytestmark = pytest.mark.e2e

FREE = "bypassPermissions"


def agent(prompt: str = "look", **more: Any) -> str:
    return f"call[c1]: Agent {json.dumps({'description': 'look around', 'prompt': prompt, **more})}"


def script(*answers: str) -> str:
    return "\n---\n".join(answers) + "\n"


READ = 'call[r1]: Read {"file_path": "notes.txt"}'
BASH = 'call[b1]: Bash {"command": "touch ran"}'


def below(messages: list[Message]) -> list[tuple[str, str | None]]:
    """The blocks of messages of agents, and the call they are under."""
    return [
        (type(block).__name__, message.parent_tool_use_id)
        for message in messages
        if isinstance(message, AssistantMessage | UserMessage) and message.parent_tool_use_id
        for block in (message.content if isinstance(message.content, list) else [])
    ]


def of(messages: list[Message], kind: type[Any]) -> list[Any]:
    return [message for message in messages if isinstance(message, kind)]


async def test_messages_are_under_the_call_that_started_it(serve: Callable[..., Any]) -> None:
    judge: Judge = await serve(script(agent(), "say: I read.\n" + READ, "say: Read.", "say: Done."))
    messages = await judge.query("go")
    assert below(messages) == [("ToolUseBlock", "c1"), ("ToolResultBlock", "c1")]
    (begun,) = of(messages, TaskStartedMessage)
    (ended,) = of(messages, TaskNotificationMessage)
    assert (begun.task_type, begun.tool_use_id) == ("local_agent", "c1")
    assert (ended.task_id, ended.status, ended.tool_use_id) == (begun.task_id, "completed", "c1")
    assert ended.usage["tool_uses"] == 1
    last = messages[-1]
    assert isinstance(last, ResultMessage)
    assert (last.result, last.subtype) == ("Done.", "success")


async def test_its_words_too(serve: Callable[..., Any]) -> None:
    judge: Judge = await serve(script(agent(), "say: I read.\n" + READ, "say: Read.", "say: Done."))
    messages = await judge.query(one("go"), forward_subagent_text=True)
    said = [
        block.text
        for message in of(messages, AssistantMessage)
        if message.parent_tool_use_id == "c1"
        for block in message.content
        if isinstance(block, TextBlock)
    ]
    assert said == ["I read.", "Read."]


async def test_types_that_the_client_defines(serve: Callable[..., Any]) -> None:
    judge: Judge = await serve(script(agent(subagent_type="painter"), "say: Blue.", "say: Done."))
    painter = AgentDefinition(description="Knows colours", prompt="You paint.", tools=["Read"])
    async with ClaudeSDKClient(judge.options(agents={"painter": painter})) as client:
        info = await client.get_server_info()
        assert info is not None
        names = [each["name"] for each in info["agents"]]
        assert {"painter", "Explore", "general-purpose"} <= set(names)
        await client.query("go")
        messages = [message async for message in client.receive_response()]
    child = judge.server.bodies[1]
    assert "You paint." in str(child["system"])
    assert [tool["name"] for tool in child["tools"]] == ["Read"]
    assert "painter" in str(judge.server.bodies[0]["tools"])
    assert messages[-1].__class__ is ResultMessage


async def test_consent_says_which_agent_asks(serve: Callable[..., Any]) -> None:
    judge: Judge = await serve(script(agent(), BASH, "say: Made.", "say: Done."))
    asked: list[tuple[str, dict[str, Any], str | None]] = []

    async def can(
        name: str, input: dict[str, Any], context: ToolPermissionContext
    ) -> PermissionResultAllow:
        asked.append((name, input, context.agent_id))
        return PermissionResultAllow()

    messages = await judge.query(one("go"), can_use_tool=can)
    (begun,) = of(messages, TaskStartedMessage)
    assert asked == [("Bash", {"command": "touch ran"}, begun.task_id)]
    assert (judge.program.project / "ran").exists()


async def test_hooks_hear_of_agents(serve: Callable[..., Any]) -> None:
    judge: Judge = await serve(script(agent(), READ, "say: Read.", "say: Done."))
    heard: list[dict[str, Any]] = []

    async def hears(input: Any, call: str | None, context: Any) -> Any:
        heard.append(input)
        return {}

    events: Any = ("SubagentStart", "PreToolUse", "SubagentStop")
    given: Any = {event: [HookMatcher(hooks=[hears])] for event in events}
    messages = await judge.query(one("go"), hooks=given)
    (begun,) = of(messages, TaskStartedMessage)
    assert [(each["hook_event_name"], each.get("agent_id")) for each in heard] == [
        ("PreToolUse", None),
        ("SubagentStart", begun.task_id),
        ("PreToolUse", begun.task_id),
        ("SubagentStop", begun.task_id),
    ]
    assert heard[-1]["last_assistant_message"] == "Read."


async def test_a_hook_keeps_an_agent_at_work(serve: Callable[..., Any]) -> None:
    judge: Judge = await serve(script(agent(), "say: One.", "say: Two.", "say: Done."))

    async def once(input: Any, call: str | None, context: Any) -> Any:
        return {} if input["stop_hook_active"] else {"decision": "block", "reason": "Look again."}

    await judge.query(one("go"), hooks={"SubagentStop": [HookMatcher(hooks=[once])]})
    assert "Look again." in str(judge.bodies()[2])
    assert "Two." in str(judge.bodies()[3])


async def test_a_query_waits_for_agents_in_the_background(serve: Callable[..., Any]) -> None:
    background = agent(run_in_background=True)
    # Which of the two asks first is open: both are told the same.
    judge: Judge = await serve(script(background, "say: Here.", "say: Here.", "say: All."))
    messages = await judge.query("go")
    results = of(messages, ResultMessage)
    assert [each.subtype for each in results] == ["success"] * len(results)
    assert results[-1].result in ("All.", "Here.")
    assert len(judge.server.bodies) in (3, 4)
    (ended,) = of(messages, TaskNotificationMessage)
    assert ended.status == "completed"
    assert messages.index(ended) < messages.index(results[-1])


@pytest.mark.parametrize("streamed", [True, False])
async def test_hooks_are_answered_until_the_last_agent_has_ended(
    serve: Callable[..., Any], *, streamed: bool
) -> None:
    """The client keeps its end open as long as we say that something is owed."""
    background = agent(run_in_background=True)
    wait = 'call[b1]: Bash {"command": "sleep 1; touch ran"}'
    judge: Judge = await serve(script(background, "say: x", wait, "say: y", "say: z"), repeat=True)
    heard: list[str] = []

    async def hears(input: Any, call: str | None, context: Any) -> Any:
        heard.append(input["hook_event_name"])
        return {}

    given: Any = {"SubagentStop": [HookMatcher(hooks=[hears])]}
    messages = await judge.query(one("go") if streamed else "go", hooks=given, permission_mode=FREE)
    assert heard == ["SubagentStop"]
    assert of(messages, ResultMessage)[-1].subtype == "success"


async def test_an_agent_is_stopped_by_the_client(serve: Callable[..., Any]) -> None:
    start = agent(run_in_background=True)
    wait = "say: I wait.\nwait: ever"
    judge: Judge = await serve(script(start, wait, wait, "say: Ended."), repeat=True)
    async with ClaudeSDKClient(judge.options()) as client:
        await client.query("go")
        task = ""
        ends: list[str | None] = []
        async with asyncio.timeout(PATIENCE):
            async for message in client.receive_messages():
                match message:
                    case TaskStartedMessage(task_id=id):
                        task = id
                        await judge.server.reached("ever")
                        await client.stop_task(id)
                    case TaskUpdatedMessage(task_id=id, status=status) if id == task:
                        ends.append(status)
                    case TaskNotificationMessage(task_id=id, status=status):
                        assert (id, status) == (task, "stopped")
                        break
                    case _:
                        pass
        assert ends[-1] == "killed"
        with pytest.raises(Exception, match="no task nonsense"):
            await client.stop_task("nonsense")


async def test_who_waits_for_a_person_keeps_no_other_from_the_server(program: Program) -> None:
    def scripts(who: str) -> str:
        match who:
            case "asker":
                return script(BASH, "say: Made.")
            case "worker":
                return "say: Worked."
            case _:
                calls = (agent(f"I am {name}.").replace("c1", name) for name in ("asker", "worker"))
                return script("\n".join(calls), "say: Done.")

    settings = {"smallModel": "demo", "providers": {"anthropic": {"maxConcurrent": 1}}}
    file = program.home / ".gatewright" / "settings.json"
    file.write_text(json.dumps(settings), encoding="utf-8")
    worked = asyncio.Event()

    async def can(
        name: str, input: dict[str, Any], context: ToolPermissionContext
    ) -> PermissionResultAllow:
        async with asyncio.timeout(PATIENCE):
            await worked.wait()
        return PermissionResultAllow()

    server = NarrowServer(scripts)
    async with server:
        options = Judge(program, server).options(can_use_tool=can)
        async with ClaudeSDKClient(options) as client, asyncio.timeout(PATIENCE):
            await client.query("go")
            async for message in client.receive_response():
                if isinstance(message, TaskNotificationMessage) and message.tool_use_id == "worker":
                    worked.set()
    assert (program.project / "ran").exists()
    assert (server.answered.count("asker"), server.refused) == (2, []), "one at a time, as set"


async def test_cost_and_models_count_agents(serve: Callable[..., Any]) -> None:
    judge: Judge = await serve(script(agent(), READ, "say: Read.", "say: Done."))
    last = (await judge.query("go"))[-1]
    assert isinstance(last, ResultMessage)
    assert last.model_usage is not None
    output = sum(each["outputTokens"] for each in last.model_usage.values())
    assert output == 4 * 5, "what the server counted for four answers"
