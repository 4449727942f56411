"""EnterPlanMode: tighten to reading and planning; only the person's approval ends it."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel

from gatewright.tools.access import Effect, Where
from gatewright.tools.blocks import Block, Text
from gatewright.tools.checked import CheckedTool
from gatewright.tools.protocol import Run, ToolContext, ToolFailure, ToolResult
from gatewright.tools.services import Planning

ON = "plan mode is on"


class EnterPlanInput(BaseModel):
    pass


class EnterPlanMode(CheckedTool[EnterPlanInput]):
    name = "EnterPlanMode"
    input = EnterPlanInput
    prompt = "enter_plan.md"
    effects = Effect.FREE

    def title(self, input: EnterPlanInput, where: Where) -> tuple[str, str]:
        del input, where
        return "Plan", "first"

    async def run(self, input: EnterPlanInput, ctx: ToolContext) -> Run:
        del input
        planning = required(ctx)
        if not planning.active():
            planning.enter()
        yield ToolResult.text(
            f"Plan mode is on: read and search, change nothing. Write the plan to {planning.path}"
            " with Write, then call ExitPlanMode to have it approved.",
            summary=ON,
        )

    def view(self, input: EnterPlanInput, result: ToolResult | None) -> Sequence[Block]:
        del input
        return (Text(ON, "dim"),) if result and result.ok else ()


def required(ctx: ToolContext) -> Planning:
    """The session's plan mode, or ToolFailure where there is none."""
    if ctx.planning is None:
        raise ToolFailure("There is no plan mode here. Go on without it.")
    return ctx.planning
