"""TaskOutput: what a background task printed since it was last asked, and how it stands."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, Field

from gatewright.tools.access import Effect, Where
from gatewright.tools.blocks import Block, Output
from gatewright.tools.checked import CheckedTool
from gatewright.tools.files.preview import preview
from gatewright.tools.protocol import Job, Run, ToolContext, ToolFailure, ToolResult


class TaskOutputInput(BaseModel):
    task_id: str = Field(min_length=1)
    block: bool = Field(default=True)
    timeout: float = Field(default=30_000, ge=0, le=600_000, description="ms")


class TaskOutput(CheckedTool[TaskOutputInput]):
    name = "TaskOutput"
    input = TaskOutputInput
    prompt = "task_output.md"
    effects = Effect.FREE

    def title(self, input: TaskOutputInput, where: Where) -> tuple[str, str]:
        del where
        return "Output of", input.task_id

    def loop_key(self, input: TaskOutputInput) -> str:
        del input
        return ""  # a task that is silent for long is asked again and again

    async def run(self, input: TaskOutputInput, ctx: ToolContext) -> Run:
        job = find(input.task_id, ctx)
        if ctx.jobs is not None:
            if input.block and job.running:
                await ctx.jobs.wait(input.task_id, input.timeout / 1000)
            if not job.running:
                ctx.jobs.told(input.task_id)
        output = job.news().strip("\n")
        yield ToolResult.text(
            f"{output or '[nothing new]'}\n[{job.status()}]",
            summary=job.status(),
            data={"task_id": input.task_id, "status": job.status(), "output": output},
        )

    def view(self, input: TaskOutputInput, result: ToolResult | None) -> Sequence[Block]:
        del input
        if result is None:
            return ()
        text, hidden = preview(str(result.data.get("output", "")))
        return (Output(text, hidden_lines=hidden),)


def find(id: str, ctx: ToolContext) -> Job:
    """The background job, or ToolFailure naming those that run."""
    job = ctx.jobs.find(id) if ctx.jobs is not None else None
    if job is not None:
        return job
    running = ctx.jobs.running() if ctx.jobs is not None else ()
    hint = "Running: " + "; ".join(running) if running else "Nothing runs in the background."
    raise ToolFailure(f"There is no task {id}. {hint}")
