"""TaskUpdate: change a task of the session's list, or take it away."""

from __future__ import annotations

import asyncio
from typing import Literal

from pydantic import BaseModel, Field

from gatewright.tools.access import MAIN, Effect, Where
from gatewright.tools.checked import CheckedTool
from gatewright.tools.protocol import Run, ToolContext, ToolResult
from gatewright.tools.tasks.task_moments import besides, heard, refusal
from gatewright.tools.tasks.tasklist import Holder, Task, TaskList, Unclaimed, holder, opened


class TaskUpdateInput(BaseModel):
    taskId: str = Field(min_length=1)
    status: Literal["pending", "in_progress", "completed", "deleted"] | None = None
    subject: str | None = None
    description: str | None = None
    activeForm: str | None = None
    owner: str | None = None
    addBlocks: list[str] = Field(default=[], description="Tasks that have to wait for this one")
    addBlockedBy: list[str] = Field(default=[], description="Tasks this one has to wait for")


class TaskUpdate(CheckedTool[TaskUpdateInput]):
    name = "TaskUpdate"
    input = TaskUpdateInput
    prompt = "task_update.md"
    effects = Effect.FREE

    def title(self, input: TaskUpdateInput, where: Where) -> tuple[str, str]:
        del where
        return "Update task", f"#{input.taskId}"

    async def run(self, input: TaskUpdateInput, ctx: ToolContext) -> Run:
        verdict = None
        if input.status == "completed" and ctx.moments is not None:
            task = await asyncio.to_thread(_found, input.taskId, ctx)
            verdict = await heard(ctx, task, completed=True)
            if refused := refusal(verdict, f"Task #{task.id} is not done: a hook says so."):
                yield refused
                return
        yield besides(await asyncio.to_thread(_update, input, ctx), verdict)


def _found(id: str, ctx: ToolContext) -> Task:
    with opened(ctx) as tasks:
        return tasks.find(id)


def _update(input: TaskUpdateInput, ctx: ToolContext) -> ToolResult:
    with opened(ctx) as tasks:
        task = tasks.find(input.taskId)
        if input.status == "deleted":
            tasks.guard(task, holder(ctx))
            tasks.remove(task)
            said = f"Task #{task.id} was deleted."
        else:
            unblocked = _change(input, task, tasks, holder(ctx))
            said = tasks.line(task)
            if unblocked:
                said += f"\nNow ready: {', '.join(f'#{id}' for id in unblocked)}"
        return ToolResult.text(
            said,
            view=(tasks.block_for_people(),),
            data={"taskId": task.id, "status": input.status or task.status},
            summary=(input.status or "changed").replace("_", " "),
        )


def _change(input: TaskUpdateInput, task: Task, tasks: TaskList, who: Holder) -> list[str]:
    """What of others can begin with it."""
    if input.model_fields_set - {"taskId", "status", "addBlocks"}:
        tasks.guard(task, who)
    for id in input.addBlockedBy:
        tasks.block(task, id)
    for id in input.addBlocks:
        tasks.guard(other := tasks.find(id), who)
        tasks.block(other, task.id)
    if input.status == "in_progress":
        tasks.claim(task, who, "" if who.agent == MAIN else who.agent)
    task.subject = input.subject or task.subject
    task.description = task.description if input.description is None else input.description
    task.activeForm = task.activeForm if input.activeForm is None else input.activeForm
    task.owner = task.owner if input.owner is None else input.owner
    if input.status == "completed":
        return tasks.finish(task, who)
    if input.status == "pending":
        if task.holder not in (None, who):
            raise Unclaimed(f"already_claimed: {task.owner} works on task {task.id}.")
        tasks.give_back(task)
    return []
