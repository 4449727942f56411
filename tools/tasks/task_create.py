"""TaskCreate: add a task to the session's list."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from pydantic import BaseModel, Field

from gatewright.tools.access import Effect, Where
from gatewright.tools.blocks import Block, Text
from gatewright.tools.checked import CheckedTool
from gatewright.tools.protocol import Run, ToolContext, ToolResult
from gatewright.tools.tasks.task_moments import besides, heard, refusal
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
        task, result = await asyncio.to_thread(_create, input, ctx)
        verdict = await heard(ctx, task)
        refused = refusal(verdict, f"Task #{task.id} was not kept: a hook refused it.")
        if refused is not None:
            await asyncio.to_thread(_take_back, task, ctx)
        yield refused or besides(result, verdict)

    def view(self, input: TaskCreateInput, result: ToolResult | None) -> Sequence[Block]:
        return (Text(input.subject),) if result is None else ()


def _create(input: TaskCreateInput, ctx: ToolContext) -> tuple[Task, ToolResult]:
    with opened(ctx) as tasks:
        task = tasks.add(input.subject, input.description, input.activeForm)
        data = {"task": {"id": task.id, "subject": task.subject}}
        text = f"Task #{task.id} was added: {task.subject}"
        return task, ToolResult.text(
            text,
            view=(tasks.block_for_people(),),
            data=data,
            summary=f"#{task.id}",
        )


def _take_back(task: Task, ctx: ToolContext) -> None:
    with opened(ctx) as tasks:
        tasks.remove(tasks.find(task.id))
