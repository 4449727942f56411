"""Asks those who listen whether a task may be created, or be called done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatewright.tools.protocol import ToolContext, ToolFailure
from gatewright.tools.tasks.tasklist import Task

if TYPE_CHECKING:  # nobody listens in most sessions
    from gatewright.tools.moments import Verdict


async def agreed(task: Task, ctx: ToolContext, *, completed: bool) -> Verdict | None:
    """What they say besides; None where nobody listens. Raises ToolFailure: it may not be."""
    if ctx.moments is None:
        return None
    from gatewright.tools.moments import TaskMoves  # noqa: PLC0415  only where somebody listens

    moment = TaskMoves(
        agent=ctx.agent,
        id=task.id,
        subject=task.subject,
        description=task.description,
        name=task.owner,
        completed=completed,
    )
    verdict = await ctx.moments.at(moment)
    if verdict.word in ("deny", "stop"):
        what = "is not completed" if completed else "was not added"
        raise ToolFailure(f"Task #{task.id} {what}. {verdict.text}".rstrip())
    return verdict
