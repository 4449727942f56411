"""TaskGet: one task of the session's list in full."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import msgspec
from pydantic import BaseModel, Field

from gatewright.tools.access import Effect, Where
from gatewright.tools.blocks import Block, Text
from gatewright.tools.checked import CheckedTool
from gatewright.tools.protocol import Run, ToolContext, ToolResult
from gatewright.tools.tasks.tasklist import opened


class TaskGetInput(BaseModel):
    taskId: str = Field(min_length=1)


class TaskGet(CheckedTool[TaskGetInput]):
    name = "TaskGet"
    input = TaskGetInput
    prompt = "task_get.md"
    effects = Effect.FREE | Effect.READ_ONLY

    def title(self, input: TaskGetInput, where: Where) -> tuple[str, str]:
        del where
        return "Look at task", f"#{input.taskId}"

    async def run(self, input: TaskGetInput, ctx: ToolContext) -> Run:
        yield await asyncio.to_thread(_get, input, ctx)

    def view(self, input: TaskGetInput, result: ToolResult | None) -> Sequence[Block]:
        del input
        if result is None or not result.ok:
            return ()
        task = result.data["task"]
        return (Text(task.get("description") or task["subject"]),)


def _get(input: TaskGetInput, ctx: ToolContext) -> ToolResult:
    with opened(ctx) as tasks:
        task = tasks.find(input.taskId)
        text = f"{tasks.line(task)}\n{task.description}".rstrip()
        data = {"task": msgspec.to_builtins(task)}
        return ToolResult.text(text, summary=task.subject, data=data)
