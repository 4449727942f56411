"""Hook callbacks of Claude Code's public Python client: its examples, against our program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.sdk.judging import Judge, one, result, tool_results

sdk = pytest.importorskip("claude_agent_sdk")

from claude_agent_sdk import HookMatcher, SystemMessage  # noqa: E402  only where it is installed

pytestmark = pytest.mark.e2e

RUN = 'call: Bash {"command": "touch ran"}\n---\nsay: Done.\n'
FREE = "bypassPermissions"


def says(value: dict[str, Any], heard: list[Any] | None = None) -> Any:
    async def callback(input: Any, call: str | None, context: Any) -> Any:
        if heard is not None:
            heard.append((input, call))
        return value

    return callback


def part(event: str, **fields: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": event, **fields}}


def hooks(event: str, callback: Any, **more: Any) -> Any:
    return {event: [HookMatcher(hooks=[callback], **more)]}


async def test_a_denial_of_a_call(serve: Callable[..., Any]) -> None:
    judge: Judge = await serve(RUN)
    heard: list[Any] = []
    deny = says(
        part("PreToolUse", permissionDecision="deny", permissionDecisionReason="Not here."), heard
    )
    given = hooks("PreToolUse", deny, matcher="Bash")
    messages = await judge.query(one("go"), hooks=given, permission_mode=FREE)
    assert not (judge.program.project / "ran").exists()
    ((text, error),) = tool_results(messages)
    assert error
    assert "Not here." in text
    ((input, call),) = heard
    assert input["tool_input"]["command"] == "touch ran"
    assert call == input["tool_use_id"]


async def test_an_allow_settles_what_would_be_asked(serve: Callable[..., Any]) -> None:
    judge: Judge = await serve(RUN)
    allow = says(part("PreToolUse", permissionDecision="allow"))
    await judge.query(one("go"), hooks=hooks("PreToolUse", allow, matcher="Bash"))
    assert (judge.program.project / "ran").exists()


async def test_a_rewritten_input(serve: Callable[..., Any]) -> None:
    judge: Judge = await serve(RUN)
    changed = {"command": "touch changed"}
    rewrite = says(part("PreToolUse", permissionDecision="allow", updatedInput=changed))
    await judge.query(one("go"), hooks=hooks("PreToolUse", rewrite))
    assert (judge.program.project / "changed").exists()
    assert not (judge.program.project / "ran").exists()


async def test_context_after_a_call(serve: Callable[..., Any]) -> None:
    judge: Judge = await serve(RUN)
    more = says(part("PostToolUse", additionalContext="The file is new."))
    await judge.query(one("go"), hooks=hooks("PostToolUse", more), permission_mode=FREE)
    assert "The file is new." in str(judge.bodies()[1])


async def test_context_beside_an_input(serve: Callable[..., Any]) -> None:
    judge: Judge = await serve("say: Hi.\n")
    more = says(part("UserPromptSubmit", additionalContext="It is Tuesday."))
    await judge.query(one("go"), hooks=hooks("UserPromptSubmit", more))
    assert "It is Tuesday." in str(judge.bodies()[0])


async def test_a_stop_hook_goes_on_once(serve: Callable[..., Any]) -> None:
    judge: Judge = await serve("say: One.\n---\nsay: Two.\n")

    async def stop(input: Any, call: str | None, context: Any) -> Any:
        return {} if input["stop_hook_active"] else {"decision": "block", "reason": "Test it."}

    messages = await judge.query(one("go"), hooks=hooks("Stop", stop))
    assert "Test it." in str(judge.bodies()[1])
    assert result(messages).result == "Two."


async def test_continue_false_ends_the_turn(serve: Callable[..., Any]) -> None:
    judge: Judge = await serve(RUN)
    stop = says({"continue_": False, "stopReason": "Enough."})
    await judge.query(one("go"), hooks=hooks("PostToolUse", stop), permission_mode=FREE)
    assert len(judge.bodies()) == 1


@pytest.mark.parametrize(
    ("on_failure", "runs"), [(None, True), ("continue", True), ("block", False)]
)
async def test_an_error_in_a_callback(
    serve: Callable[..., Any], on_failure: Any, runs: bool
) -> None:
    judge: Judge = await serve(RUN)

    async def broken(input: Any, call: str | None, context: Any) -> Any:
        raise RuntimeError("broken")

    given = hooks("PreToolUse", broken, on_failure=on_failure)
    await judge.query(one("go"), hooks=given, permission_mode=FREE)
    assert (judge.program.project / "ran").exists() is runs


async def test_asynchronous_is_no_decision(serve: Callable[..., Any]) -> None:
    judge: Judge = await serve(RUN)
    later = says({"async_": True, "asyncTimeout": 1000, "decision": "block"})
    await judge.query(one("go"), hooks=hooks("PreToolUse", later), permission_mode=FREE)
    assert (judge.program.project / "ran").exists()


async def test_hook_events_are_messages(serve: Callable[..., Any]) -> None:
    judge: Judge = await serve(RUN)
    given = hooks("PreToolUse", says({}))
    messages = await judge.query(
        one("go"), hooks=given, permission_mode=FREE, include_hook_events=True
    )
    found = [
        (message.subtype, message.data["hook_event"])
        for message in messages
        if isinstance(message, SystemMessage) and message.subtype.startswith("hook_")
    ]
    assert found == [("hook_started", "PreToolUse"), ("hook_response", "PreToolUse")]


async def test_an_unknown_event_is_refused_rather_than_ignored(serve: Callable[..., Any]) -> None:
    """A guard that silently never runs would be worse than none."""
    judge: Judge = await serve(RUN)
    with pytest.raises(Exception, match="no hook event"):
        await judge.query(one("go"), hooks=hooks("PreToolUsed", says({})))
    assert judge.server.requests == []
