"""ExitPlanMode: shows the plan as it is on disk and lets the person decide how to go on."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from pydantic import BaseModel, Field

from gatewright.tools.access import Effect, Where
from gatewright.tools.blocks import Block, Markdown
from gatewright.tools.checked import CheckedTool
from gatewright.tools.files import fs
from gatewright.tools.interact import Answer, Ask, Option
from gatewright.tools.person.enter_plan import required
from gatewright.tools.protocol import Run, ToolContext, ToolFailure, ToolResult
from gatewright.tools.services import Planning, PlanStart
from gatewright.tools.system.exact import real_path

_KEEP = "keep"
_ACCEPTS = "acceptEdits"


def _options(back: str) -> tuple[Option, ...]:
    """The mode that is gone back to is named, as it decides what is asked; none stands twice."""
    found = (
        ("edit", f"Start editing, in {back} mode", "keeps the conversation"),
        ("clear", f"Clear the context and start, in {back} mode", "restarts with the plan"),
        ("accept_edits", "Start with edits accepted", "edits inside run without asking"),
        (_KEEP, "Keep planning", "say what to change"),
    )
    shown = [each for each in found if each[0] != "accept_edits" or back != _ACCEPTS]
    return tuple(Option(id, label, str(n), help) for n, (id, label, help) in enumerate(shown, 1))


class ExitPlanInput(BaseModel):
    plan: str | None = Field(default=None, description="Only if you wrote no plan file")


class ExitPlanMode(CheckedTool[ExitPlanInput]):
    name = "ExitPlanMode"
    input = ExitPlanInput
    prompt = "exit_plan.md"
    effects = Effect.HUMAN

    def title(self, input: ExitPlanInput, where: Where) -> tuple[str, str]:
        del input, where
        return "Propose", "the plan"

    async def run(self, input: ExitPlanInput, ctx: ToolContext) -> Run:
        planning = required(ctx)
        if not planning.active():
            raise ToolFailure("Plan mode is not on; go on with the work.")
        plan = await asyncio.to_thread(_plan, planning, input.plan)
        answer = await ctx.ask(
            Ask(
                kind="plan",
                title="Start with this plan?",
                body=(Markdown(plan),),
                options=_options(planning.back),
                tool=self.name,
                free_text=True,
            )
        )
        yield await _follow(answer, planning, plan)

    def view(self, input: ExitPlanInput, result: ToolResult | None) -> Sequence[Block]:
        text = result.data.get("plan") if result else input.plan
        return (Markdown(str(text)),) if text else ()


def _plan(planning: Planning, given: str | None) -> str:
    """The plan file as it is now; what the model passed counts only without one."""
    try:
        folder = Path(real_path(planning.path.parent))  # the file itself must be no link
        text = fs.decode(fs.reading(folder / planning.path.name)).text
    except FileNotFoundError:
        text = given or ""
    if not text.strip():
        raise ToolFailure(f"There is no plan yet. Write it to {planning.path} first.")
    return text


async def _follow(answer: Answer, planning: Planning, plan: str) -> ToolResult:
    if answer.cancelled:
        return ToolResult.refused("The person did not decide on the plan.", ends_turn=True)
    if answer.choice in ("", _KEEP):
        wish = f" They say: {answer.text}" if answer.text.strip() else " Ask what to change."
        return ToolResult.refused(f"The person wants to keep planning.{wish}")
    plan = await asyncio.to_thread(_plan, planning, plan)  # it may have been edited meanwhile
    planning.leave(cast("PlanStart", answer.choice), plan)
    more = f" They add: {answer.text}" if answer.text.strip() else ""
    return ToolResult.text(
        f"The plan is approved; start now.{more}\n\nThe plan:\n{plan}",
        summary="approved",
        data={"plan": plan, "filePath": str(planning.path), "start": answer.choice},
    )
