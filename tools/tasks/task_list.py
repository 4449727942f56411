"""TaskList: the session's tasks, one line each."""

from __future__ import annotations

import asyncio

from pydantic import BaseModel

from gatewright.tools.access import Effect, Where
from gatewright.tools.checked import CheckedTool
from gatewright.tools.counted import counted
from gatewright.tools.protocol import Run, ToolContext, ToolResult
from gatewright.tools.tasks.tasklist import opened


class TaskListInput(BaseModel):
    pass


class TaskListTool(CheckedTool[TaskListInput]):
    name = "TaskList"
    input = TaskListInput
    prompt = "task_list.md"
    effects = Effect.FREE | Effect.READ_ONLY

    def title(self, input: TaskListInput, where: Where) -> tuple[str, str]:
        del input, where
        return "List", "tasks"

    async def run(self, input: TaskListInput, ctx: ToolContext) -> Run:
        del input
        yield await asyncio.to_thread(_list, ctx)


def _list(ctx: ToolContext) -> ToolResult:
    with opened(ctx) as tasks:
        lines = [tasks.line(task) for task in tasks.tasks.values()]
        count = counted(len(lines), "task")
        return ToolResult.text(
            "\n".join(lines) or "There are no tasks.",
            view=(tasks.block_for_people(),),
            summary=count,
        )
