"""Those who listen hear of a task that was created or is about to be completed, and may refuse."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatewright.tools.protocol import ToolContext, ToolResult
from gatewright.tools.tasks.tasklist import LIST_VARIABLES, Task

if TYPE_CHECKING:
    from gatewright.tools.moments import Verdict


async def heard(ctx: ToolContext, task: Task, *, completed: bool = False) -> Verdict | None:
    """What they say; None where nobody listens."""
    if ctx.moments is None:
        return None
    from gatewright.tools.moments import TaskMoves  # noqa: PLC0415  only where somebody listens

    return await ctx.moments.at(
        TaskMoves(
            agent=ctx.agent,
            id=task.id,
            subject=task.subject,
            description=task.description,
            completed=completed,
            name=task.owner,
            team=next((ctx.env[each] for each in LIST_VARIABLES if ctx.env.get(each)), ""),
        )
    )


def refusal(verdict: Verdict | None, otherwise: str) -> ToolResult | None:
    """The result of a call that they did not let happen."""
    if verdict is None or verdict.word not in ("deny", "stop"):
        return None
    text = verdict.text or otherwise
    return ToolResult.refused(text, stopped=text if verdict.ends_turn() else "")


def besides(result: ToolResult, verdict: Verdict | None) -> ToolResult:
    if verdict is None:
        return result
    from gatewright.tools.moments import told_besides  # noqa: PLC0415  only where somebody listens

    return told_besides(result, verdict)
