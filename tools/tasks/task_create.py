"""TaskCreate: add a task to the session's list."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from pydantic import BaseModel, Field

from gatewright.tools.access import Effect, Where
from gatewright.tools.blocks import Block, Text
from gatewright.tools.checked import CheckedTool
from gatewright.tools.protocol import Run, ToolContext, ToolFailure, ToolResult
from gatewright.tools.tasks.agreed import agreed
from gatewright.tools.tasks.tasklist import Task, opened


class TaskCreateInput(BaseModel):
    subject: str = Field(min_length=1, description="What to do, imperative, one line")
    description: str = Field(default="", description="Context and when it counts as done")
    activeForm: str = Field(default="", description="The subject while doing it: 'Fixing ...'")


class TaskCreate(CheckedTool[TaskCreateInput]):
    name = "TaskCreate"
    input = TaskCreateInput
    prompt = "task_create.md"
    effects = Effect.FREE

    def title(self, input: TaskCreateInput, where: Where) -> tuple[str, str]:
        del where
        return "Add task", input.subject

    async def run(self, input: TaskCreateInput, ctx: ToolContext) -> Run:
        result, task = await asyncio.to_thread(_create, input, ctx)
        try:
            await agreed(task, ctx, completed=False)
        except ToolFailure:
            await asyncio.to_thread(_taken_back, task, ctx)
            raise
        yield result

    def view(self, input: TaskCreateInput, result: ToolResult | None) -> Sequence[Block]:
        return (Text(input.subject),) if result is None else ()


def _taken_back(task: Task, ctx: ToolContext) -> None:
    with opened(ctx) as tasks:
        tasks.remove(tasks.find(task.id))


def _create(input: TaskCreateInput, ctx: ToolContext) -> tuple[ToolResult, Task]:
    with opened(ctx) as tasks:
        task = tasks.add(input.subject, input.description, input.activeForm)
        data = {"task": {"id": task.id, "subject": task.subject}}
        text = f"Task #{task.id} was added: {task.subject}"
        shown = (tasks.block_for_people(),)
        return ToolResult.text(text, view=shown, data=data, summary=f"#{task.id}"), task
