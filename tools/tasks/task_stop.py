"""TaskStop: end a background task and everything it started."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, Field

from gatewright.tools.abilities import Reporting
from gatewright.tools.access import Effect, Where
from gatewright.tools.blocks import Block, Text
from gatewright.tools.checked import CheckedTool
from gatewright.tools.protocol import Run, ToolContext, ToolResult
from gatewright.tools.tasks.task_output import find


class TaskStopInput(BaseModel):
    task_id: str = Field(min_length=1)


class TaskStop(CheckedTool[TaskStopInput]):
    name = "TaskStop"
    input = TaskStopInput
    prompt = "task_stop.md"
    effects = Effect.FREE

    def title(self, input: TaskStopInput, where: Where) -> tuple[str, str]:
        del where
        return "Stop", input.task_id

    async def run(self, input: TaskStopInput, ctx: ToolContext) -> Run:
        job = find(input.task_id, ctx)
        if ctx.jobs is not None:
            ctx.jobs.told(input.task_id)
        was_running = job.running
        await job.stop()
        said = f"{input.task_id} was stopped." if was_running else f"It had ended: {job.status()}."
        if isinstance(job, Reporting):  # what it did until then
            said = f"{said}\n{job.notice()}"
        yield ToolResult.text(said, summary=job.status(), data={"task_id": input.task_id})

    def view(self, input: TaskStopInput, result: ToolResult | None) -> Sequence[Block]:
        del input
        return (Text(result.summary, "dim"),) if result else ()
