"""Whoever listens may keep a task from being created, or from being called done."""

from __future__ import annotations

from pathlib import Path

import msgspec

from gatewright.tools.executor import RawExecutor
from gatewright.tools.moments import Moment, TaskMoves, Verdict
from gatewright.tools.protocol import ToolCall, ToolContext
from gatewright.tools.registry import TOOLS, BuiltinTools
from tests.fakes.executor import context, executed, text_of


class Strict:
    async def at(self, moment: Moment) -> Verdict:
        assert isinstance(moment, TaskMoves)
        if moment.completed or moment.subject == "later":
            return Verdict(word="deny", text="Run the tests.")
        return Verdict()


async def said(ctx: ToolContext, tool: str, **input: str) -> str:
    executor = RawExecutor([BuiltinTools(TOOLS)])
    return text_of(await executed(executor, ToolCall("c1", tool, dict(input)), ctx))


async def test_a_task_is_taken_back_and_not_completed(tmp_path: Path) -> None:
    ctx = msgspec.structs.replace(context(tmp_path), moments=Strict(), state=tmp_path / "kept")
    assert "was not added. Run the tests." in await said(ctx, "TaskCreate", subject="later")
    assert "was added: now" in await said(ctx, "TaskCreate", subject="now")
    listed = await said(ctx, "TaskList")
    assert "now" in listed
    assert "later" not in listed
    id = listed.partition("#")[2][:1]
    done = await said(ctx, "TaskUpdate", taskId=id, status="completed")
    assert f"Task #{id} is not completed. Run the tests." in done
    assert "completed" not in await said(ctx, "TaskList")
