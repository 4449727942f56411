"""What a person is told before a run goes on, and what it takes over from its first start."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gatewright.agent.record.events import Asked, WorkflowEnded
from tests.permissions.composed import ID, Desk, desk
from tests.workflows.test_session import OK, answers, launch, one, through

AGAIN: Mapping[str, Any] = {"resume": ID}


async def asked_again(opened: Desk) -> Asked:
    """The question of a resume, which a turn of its own makes."""
    opened.session.submit("go on")
    return await opened.asked(2)


async def test_its_budget_holds_for_every_start_unless_another_is_said(tmp_path: Path) -> None:
    first = launch(one("{}"), budget={"usd": 2.5, "tokens": 70_000})
    async with desk(tmp_path, [first, *OK]) as opened:
        answers(opened, "say: seen")
        run = (await through(opened)).run
    script = [launch(resumeFromRunId=run), *OK]
    async with desk(tmp_path, script, options=AGAIN) as opened:
        asked = await asked_again(opened)
        assert "Budget: $2.50 and 70,000 tokens" in str(asked.ask.body)
        opened.answer(asked, "once")
        await opened.seen.until(WorkflowEnded, count=2)
        await opened.session.idle()
    script = [launch(resumeFromRunId=run, budget={"usd": 1}), *OK]
    async with desk(tmp_path, script, options=AGAIN) as opened:
        opened.session.submit("go on")
        asked = await opened.asked(3)
        assert "Budget: $1.00'" in str(asked.ask.body)
        opened.answer(asked, "no")
        await opened.ended()
