"""The public Python client of Claude Code, pointed at our program: it judges the JSON dialect.

It is in the extra `judge`; `pip install --no-binary claude-agent-sdk` leaves out the 150 MB program
that its wheels bring along.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from tests.fakes.waiting import PATIENCE, being_written, eventually
from tests.sdk.judging import Judge, one, result, tool_results

sdk = pytest.importorskip("claude_agent_sdk")

from claude_agent_sdk import (  # noqa: E402  only where it is installed
    AssistantMessage,
    ClaudeSDKClient,
    Message,
    PermissionResultAllow,
    PermissionResultDeny,
    ResultError,
    ResultMessage,
    StreamEvent,
    SystemMessage,
    TaskNotificationMessage,
    TaskStartedMessage,
    TextBlock,
    ToolPermissionContext,
    UserMessage,
    create_sdk_mcp_server,
    tool,
)

pytestmark = pytest.mark.e2e

HELLO = "say: Hello.\n"
PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
    "gg=="
)
RUN = 'call: Bash {"command": "echo asked > ran"}\n---\nsay: Done.\n'
WAIT = 'call: Bash {"command": "touch began; sleep 60"}\n---\nsay: After.\n'
Verdict = PermissionResultAllow | PermissionResultDeny


async def answered(client: ClaudeSDKClient, prompt: str) -> list[Message]:
    await client.query(prompt)
    return [message async for message in client.receive_response()]


async def test_one_question(serve: Callable[..., Any]) -> None:
    judge: Judge = await serve(HELLO)
    messages = await judge.query("Hi?")
    first, answer, last = messages
    assert isinstance(first, SystemMessage)
    assert first.data["cwd"] == str(judge.program.project)
    assert "Read" in first.data["tools"]
    assert isinstance(answer, AssistantMessage)
    assert answer.content == [TextBlock("Hello.")]
    assert isinstance(last, ResultMessage)
    assert (last.subtype, last.is_error, last.result) == ("success", False, "Hello.")
    assert last.usage is not None
    assert last.usage["output_tokens"] > 0
    assert last.model_usage


async def test_several_turns_share_a_history(serve: Callable[..., Any]) -> None:
    judge: Judge = await serve("say: One.\n---\nsay: Two.\n")
    async with ClaudeSDKClient(judge.options()) as client:
        assert result((await answered(client, "first"))[1:]).result == "One."
        assert result(await answered(client, "second")).result == "Two."
        info = await client.get_server_info()
        assert info is not None
        commands: list[dict[str, str]] = info["commands"]
        assert {"help", "mode", "model"} <= {each["name"] for each in commands}
    assert [message["role"] for message in judge.bodies()[1]] == ["user", "assistant", "user"]


async def test_each_streamed_prompt_has_its_result(serve: Callable[..., Any]) -> None:
    judge: Judge = await serve("say: One.\n---\nsay: Two.\n")

    async def two() -> AsyncIterator[dict[str, Any]]:
        for text in ("first", "second"):
            async for message in one(text):
                yield message

    messages = await judge.query(two())
    found = [message.result for message in messages if isinstance(message, ResultMessage)]
    assert found == ["One.", "Two."]


async def test_pieces_arrive_before_the_message(serve: Callable[..., Any]) -> None:
    judge: Judge = await serve("say: Hello there, this is long enough.\n")
    messages = await judge.query("Hi?", include_partial_messages=True)
    text = "".join(
        message.event["delta"]["text"]
        for message in messages
        if isinstance(message, StreamEvent) and message.event["type"] == "content_block_delta"
    )
    assert text == "Hello there, this is long enough."


class TestConsent:
    async def ask(
        self, serve: Callable[..., Any], verdict: Verdict, script: str = RUN, **more: Any
    ) -> tuple[Judge, list[Message], list[tuple[str, dict[str, Any], ToolPermissionContext]]]:
        judge: Judge = await serve(script)
        asked: list[tuple[str, dict[str, Any], ToolPermissionContext]] = []

        async def can(name: str, input: dict[str, Any], context: ToolPermissionContext) -> Verdict:
            asked.append((name, input, context))
            return verdict

        return judge, await judge.query(one("go"), can_use_tool=can, **more), asked

    async def test_allow(self, serve: Callable[..., Any]) -> None:
        judge, messages, asked = await self.ask(serve, PermissionResultAllow())
        ((name, input, context),) = asked
        assert (name, input) == ("Bash", {"command": "echo asked > ran"})
        assert context.tool_use_id
        assert context.decision_reason
        assert (judge.program.project / "ran").read_text(encoding="utf-8") == "asked\n"
        assert result(messages).result == "Done."

    async def test_allow_with_another_input(self, serve: Callable[..., Any]) -> None:
        changed = PermissionResultAllow(updated_input={"command": "echo changed > ran"})
        judge, _, _ = await self.ask(serve, changed)
        assert (judge.program.project / "ran").read_text(encoding="utf-8") == "changed\n"

    async def test_deny_goes_on_with_the_reason(self, serve: Callable[..., Any]) -> None:
        judge, messages, _ = await self.ask(serve, PermissionResultDeny(message="Not on Mondays."))
        assert not (judge.program.project / "ran").exists()
        assert tool_results(messages) == [("Not on Mondays.", True)]
        last = result(messages)
        assert last.result == "Done."
        assert last.permission_denials is not None
        assert [denial["tool_name"] for denial in last.permission_denials] == ["Bash"]

    async def test_deny_and_interrupt_ends_the_turn(self, serve: Callable[..., Any]) -> None:
        verdict = PermissionResultDeny(message="Stop.", interrupt=True)
        judge, messages, _ = await self.ask(serve, verdict)
        assert len(judge.bodies()) == 1
        assert result(messages).num_turns == 1

    async def test_an_error_in_the_callback_is_no_consent(self, serve: Callable[..., Any]) -> None:
        judge: Judge = await serve(RUN)

        async def can(name: str, input: dict[str, Any], context: ToolPermissionContext) -> Verdict:
            raise RuntimeError("broken")

        messages = await judge.query(one("go"), can_use_tool=can)
        assert not (judge.program.project / "ran").exists()
        assert result(messages).result == "Done."

    async def test_questions_of_the_model(self, serve: Callable[..., Any]) -> None:
        question = (
            '{"questions": [{"question": "Which?", "options": '
            '[{"label": "Red"}, {"label": "Blue"}]}]}'
        )
        script = f"call: AskUserQuestion {question}\n---\nsay: Thanks.\n"
        told = PermissionResultAllow(updated_input={"answers": {"Which?": "Blue"}})
        _, messages, asked = await self.ask(serve, told, script, tools=["AskUserQuestion"])
        assert [name for name, _, _ in asked] == ["AskUserQuestion"]
        ((text, error),) = tool_results(messages)
        assert not error
        assert "Blue" in text


async def test_without_a_callback_an_ask_is_a_denial(serve: Callable[..., Any]) -> None:
    judge: Judge = await serve(RUN)
    last = result(await judge.query("go"))
    assert last.permission_denials
    assert not (judge.program.project / "ran").exists()


async def test_allowed_and_disallowed_tools(serve: Callable[..., Any]) -> None:
    judge: Judge = await serve(RUN)
    await judge.query("go", allowed_tools=["Bash(echo asked > ran)"])
    assert (judge.program.project / "ran").exists()
    judge = await serve(RUN)
    messages = await judge.query(
        "go", permission_mode="bypassPermissions", disallowed_tools=["Bash"]
    )
    assert [error for _, error in tool_results(messages)] == [True]


async def test_interrupt_and_go_on(serve: Callable[..., Any]) -> None:
    judge: Judge = await serve(WAIT)
    began = judge.program.project / "began"
    async with ClaudeSDKClient(judge.options(permission_mode="bypassPermissions")) as client:
        await client.query("go")
        await eventually(began.exists)
        await client.interrupt()
        stopped = [message async for message in client.receive_response()]
        assert stopped[-1].__class__ is ResultMessage
        assert result(stopped[1:]).subtype == "error_during_execution"
        assert result(await answered(client, "and now?")).result == "After."


async def test_mode_and_model_change_in_between(serve: Callable[..., Any]) -> None:
    judge: Judge = await serve(HELLO + "---\n" + RUN + "---\n" + HELLO)
    async with ClaudeSDKClient(judge.options()) as client:
        await answered(client, "first")
        await client.set_permission_mode("bypassPermissions")
        await answered(client, "go")
        assert (judge.program.project / "ran").exists()
        await client.set_model("anthropic/claude-haiku-4-5")
        await answered(client, "last")
        usage = await client.get_context_usage()
        with pytest.raises(Exception, match="no mode"):
            await client.set_permission_mode("nonsense")  # type: ignore[arg-type]
        assert usage["totalTokens"] > 0
    models = [body["model"] for body in judge.server.bodies]
    assert models[0] != models[-1] == "claude-haiku-4-5"


async def test_files_go_back(serve: Callable[..., Any]) -> None:
    change = '{"file_path": "notes.txt", "content": "changed"}'
    read = 'call: Read {"file_path": "notes.txt"}\n---\n'
    judge: Judge = await serve(f"{read}call: Write {change}\n---\nsay: Done.\n")
    notes = judge.program.project / "notes.txt"
    before = notes.read_text(encoding="utf-8")
    options = judge.options(
        permission_mode="bypassPermissions", extra_args={"replay-user-messages": None}
    )
    async with ClaudeSDKClient(options) as client:
        messages = await answered(client, "go")
        assert notes.read_text(encoding="utf-8") == "changed"
        sent = next(m for m in messages if isinstance(m, UserMessage) and not tool_results([m]))
        assert sent.uuid
        await client.rewind_files(sent.uuid)
        assert notes.read_text(encoding="utf-8") == before
        with pytest.raises(Exception, match="no"):
            await client.rewind_files("nonsense")


async def test_background_work_is_stopped(serve: Callable[..., Any]) -> None:
    start = '{"command": "echo $$ > pid; exec sleep 60", "run_in_background": true}'
    judge: Judge = await serve(f"call: Bash {start}\n---\nsay: Started.\n", repeat=True)
    judge.program.unconfined()
    async with ClaudeSDKClient(judge.options(permission_mode="bypassPermissions")) as client:
        messages = await answered(client, "go")
        (begun,) = (each for each in messages if isinstance(each, TaskStartedMessage))
        assert begun.task_type == "local_bash"
        with pytest.raises(Exception, match="no task nonsense"):
            await client.stop_task("nonsense")
        pid_file = judge.program.project / "pid"
        await being_written(pid_file)
        await client.stop_task(begun.task_id)
        async with asyncio.timeout(PATIENCE):
            async for message in client.receive_messages():
                if isinstance(message, TaskNotificationMessage):
                    break
        assert (message.task_id, message.status) == (begun.task_id, "stopped")
        assert not alive(int(pid_file.read_text(encoding="utf-8")))


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_resume_fork_and_continue(serve: Callable[..., Any]) -> None:
    judge: Judge = await serve(HELLO, repeat=True)
    first = result(await judge.query("one"))
    again = result(await judge.query("two", resume=first.session_id))
    assert again.session_id == first.session_id
    forked = result(await judge.query("three", resume=first.session_id, fork_session=True))
    assert forked.session_id != first.session_id
    assert len(judge.bodies()[2]) == 5
    continued = result(await judge.query("four", continue_conversation=True))
    assert continued.session_id == forked.session_id


async def test_limits(serve: Callable[..., Any]) -> None:
    judge: Judge = await serve('call: Glob {"pattern": "*"}\n---\nsay: x\n')
    with pytest.raises(ResultError) as raised:
        await judge.query("go", max_turns=1)
    assert raised.value.exit_code == 53
    assert raised.value.data["subtype"] == "error_max_turns"


async def test_options_that_become_flags(serve: Callable[..., Any]) -> None:
    """Whatever a client may be configured with, the program starts."""
    judge: Judge = await serve(HELLO)
    preset: Any = {"type": "preset", "preset": "claude_code"}
    last = result(
        await judge.query(
            "hi",
            tools=preset,
            setting_sources=[],
            settings='{"maxTurns": 5}',
            add_dirs=[judge.program.home],
            thinking={"type": "disabled"},
            effort="low",
            betas=["context-1m-2025-08-07"],
            fallback_model="anthropic/claude-haiku-4-5",
            max_budget_usd=5.0,
            strict_mcp_config=True,
            session_id="0f8fad5b-d9cb-469f-a165-70867728950e",
        )
    )
    assert (last.result, last.session_id) == ("Hello.", "0f8fad5b-d9cb-469f-a165-70867728950e")
    assert {"Read", "Bash"} <= {each["name"] for each in judge.server.bodies[0]["tools"]}


async def test_structured_output(serve: Callable[..., Any]) -> None:
    judge: Judge = await serve('say: Forty-two.\n---\nsay: {"n": 42}\n')
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    messages = await judge.query("go", output_format={"type": "json_schema", "schema": schema})
    assert result(messages).structured_output == {"n": 42}


async def test_system_prompts(serve: Callable[..., Any]) -> None:
    judge: Judge = await serve(HELLO, repeat=True)
    await judge.query("hi", system_prompt="You are a tester.")
    preset: Any = {"type": "preset", "preset": "claude_code", "append": "Be brief."}
    await judge.query("hi", system_prompt=preset)
    own, appended = (str(body["system"]) for body in judge.server.bodies)
    assert "You are a tester." in own
    assert "Be brief." in appended
    assert len(own) < len(appended)


async def test_a_picture(serve: Callable[..., Any]) -> None:
    judge: Judge = await serve(HELLO)

    async def picture() -> AsyncIterator[dict[str, Any]]:
        source = {"type": "base64", "media_type": "image/png", "data": PIXEL}
        content = [{"type": "text", "text": "What?"}, {"type": "image", "source": source}]
        async for message in one(""):
            yield {**message, "message": {"role": "user", "content": content}}

    await judge.query(picture())
    assert [block["type"] for block in judge.bodies()[0][0]["content"]][:2] == ["text", "image"]


async def test_a_slash_command_needs_no_model(serve: Callable[..., Any]) -> None:
    judge: Judge = await serve("")
    assert "Mode" in str(result(await judge.query("/status")).result)
    assert judge.server.requests == []


async def test_tools_in_the_clients_process(serve: Callable[..., Any]) -> None:
    judge: Judge = await serve('call: mcp__own__add {"a": 1, "b": 2}\n---\nsay: Done.\n')

    @tool("add", "Add", {"a": int, "b": int})
    async def add(arguments: dict[str, Any]) -> dict[str, Any]:
        return {"content": [{"type": "text", "text": str(arguments["a"] + arguments["b"])}]}

    servers: Any = {"own": create_sdk_mcp_server("own", tools=[add])}
    messages = await judge.query(one("go"), mcp_servers=servers, allowed_tools=["mcp__own__add"])
    assert tool_results(messages) == [("3", False)]


async def test_the_client_sees_and_switches_servers(serve: Callable[..., Any]) -> None:
    judge: Judge = await serve("say: Hello.\n")
    servers: Any = {"own": create_sdk_mcp_server("own", tools=[])}
    async with ClaudeSDKClient(judge.options(mcp_servers=servers)) as client:
        await answered(client, "Hi?")
        (server,) = (await client.get_mcp_status())["mcpServers"]
        assert (server["name"], server["scope"]) == ("own", "flag")
        await client.toggle_mcp_server("own", False)
        (server,) = (await client.get_mcp_status())["mcpServers"]
        assert server["status"] == "disabled"
        await client.toggle_mcp_server("own", True)
        await client.reconnect_mcp_server("own")
        for _ in range(500):
            (server,) = (await client.get_mcp_status())["mcpServers"]
            if server["status"] == "connected":
                break
        assert server["status"] == "connected"
