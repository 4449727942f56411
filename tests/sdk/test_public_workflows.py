"""Runs of workflows as Claude Code's public Python client sees them: tasks, with their progress."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.fakes.scripted_provider import read_script
from tests.fakes.waiting import PATIENCE
from tests.sdk.judging import Judge

sdk = pytest.importorskip("claude_agent_sdk")

from claude_agent_sdk import (  # noqa: E402  only where it is installed
    ClaudeSDKClient,
    Message,
    ResultMessage,
    SystemMessage,
    TaskNotificationMessage,
    TaskProgressMessage,
    TaskStartedMessage,
    TaskUpdatedMessage,
)

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(60)]

SWEEP = """export const meta = { name: 'sweep', description: 'Sweep the house' }
phase('Sweep')
return await parallel(['hall', 'attic'], (room) => agent(`Sweep the ${room}.`, { label: room }))
"""
CALL = f"call[w1]: Workflow {json.dumps({'script': SWEEP})}"


def script(*answers: str) -> str:
    return "\n---\n".join(answers) + "\n"


def of(messages: list[Message], kind: type[Any]) -> list[Any]:
    return [message for message in messages if isinstance(message, kind)]


def sweeping(judge: Judge, *attic: str) -> None:
    """What the agents of the script answer."""
    judge.server.tasks["Sweep the hall."] = list(read_script("say: hall!\n"))
    judge.server.tasks["Sweep the attic."] = list(read_script(script(*(attic or ("say: attic!",)))))


async def test_a_run_is_one_task_and_its_result_wakes_the_turn_that_counts(
    serve: Callable[..., Any],
) -> None:
    judge: Judge = await serve(script(CALL, "say: It runs.", "say: Both are clean."))
    sweeping(judge)
    messages = await judge.query("go", permission_mode="bypassPermissions")
    (begun,) = of(messages, TaskStartedMessage)
    assert (begun.task_type, begun.tool_use_id) == ("local_workflow", "w1")
    assert begun.data["workflow_name"] == "sweep"
    (ended,) = of(messages, TaskNotificationMessage)
    assert (ended.task_id, ended.status) == (begun.task_id, "completed")
    assert "hall!" in ended.summary and "attic!" in ended.summary
    assert ended.usage["tool_uses"] == 2
    assert of(messages, TaskUpdatedMessage)[-1].patch["status"] == "completed"
    told = [
        (each["label"], each["state"])
        for progress in of(messages, TaskProgressMessage)
        for each in progress.data["workflow_progress"]
        if each["type"] == "workflow_agent"
    ]
    assert {("hall", "done"), ("attic", "done")} <= set(told)
    last = messages[-1]
    assert isinstance(last, ResultMessage) and last.result == "Both are clean."
    assert last.total_cost_usd and last.total_cost_usd > 0


async def test_a_client_stops_a_run(serve: Callable[..., Any]) -> None:
    judge: Judge = await serve(script(CALL, "say: It runs.", "say: Stopped, then."))
    sweeping(judge, "wait: never\nsay: attic!")
    async with ClaudeSDKClient(judge.options(permission_mode="bypassPermissions")) as client:
        await client.query("go")
        seen: list[Message] = []
        async with asyncio.timeout(PATIENCE):
            async for message in client.receive_messages():
                seen.append(message)
                if isinstance(message, ResultMessage) and not of(seen, TaskNotificationMessage):
                    (begun,) = of(seen, TaskStartedMessage)
                    await client.stop_task(begun.task_id)
                if isinstance(message, ResultMessage) and of(seen, TaskNotificationMessage):
                    break
    (ended,) = of(seen, TaskNotificationMessage)
    assert ended.status == "stopped"


async def test_saved_ones_are_commands_of_the_client(serve: Callable[..., Any]) -> None:
    judge: Judge = await serve(script("say: It runs.", "say: Both are clean."))
    sweeping(judge)
    place = judge.program.home / ".claude" / "workflows"
    place.mkdir(parents=True)
    (place / "sweep.js").write_text(SWEEP, encoding="utf-8")
    messages = await judge.query("/sweep", permission_mode="bypassPermissions")
    (init,) = [m for m in of(messages, SystemMessage) if m.subtype == "init"]
    assert {"sweep", "deep-research", "workflows"} <= set(init.data["slash_commands"])
    (begun,) = of(messages, TaskStartedMessage)
    assert begun.data["workflow_name"] == "sweep"
    assert [each.result for each in of(messages, ResultMessage)][-1] == "Both are clean."
