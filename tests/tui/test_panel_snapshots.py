"""How background tasks and changed files look, at two sizes and in three themes."""

from __future__ import annotations

import pytest

from gatewright.agent.record.events import ToolProgressed, ToolStarted, TurnStarted
from tests.fakes.fake_session import FakeSession
from tests.fakes.job import FakeJob
from tests.tui.stage import Stage, stage
from tests.tui.svg import check
from tests.tui.test_diff_panel import diffs
from tests.tui.test_tasks import with_jobs

LOOKS = [
    (theme, size, cells)
    for theme in ("dark", "light", "ansi")
    for size, cells in (("wide", (120, 30)), ("narrow", (80, 24)))
]


def running(session: FakeSession) -> None:
    session.publish(
        TurnStarted(),
        ToolStarted(call_id="c", name="Bash", input={}, verb="Run", target="make all"),
        ToolProgressed(call_id="c", tail="cc a.c\ncc b.c", size=9, seconds=4.0, movable=True),
    )


async def listed(s: Stage) -> None:
    await s.type("/tasks")
    await s.press("escape", "enter")
    await s.see("Last line")


@pytest.mark.parametrize(("theme", "size", "cells"), LOOKS)
async def test_background(theme: str, size: str, cells: tuple[int, int]) -> None:
    jobs = (FakeJob("npm run build", "built in 3 s\n"), FakeJob("npm run dev", "ready on :3000\n"))
    jobs[0].ended.set()
    session = with_jobs(*jobs)
    async with stage(session, size=cells, theme=theme) as s:
        running(session)
        await s.settled()
        await listed(s)
        await s.settled()
        check(f"panel-tasks-{theme}-{size}", s.app.export_screenshot())
    assert session.jobs is not None
    await session.jobs.close()


@pytest.mark.parametrize(("theme", "size", "cells"), LOOKS)
async def test_changes(theme: str, size: str, cells: tuple[int, int]) -> None:
    async with stage(size=cells, theme=theme) as s:
        s.app.repl.reach.open_panel(diffs())
        await s.see("▸ a.py")
        await s.settled()
        check(f"panel-diff-{theme}-{size}", s.app.export_screenshot())
        await s.press("enter")
        await s.see("new of a.py")
        await s.gone("more below")
        await s.settled()
        check(f"panel-diff-file-{theme}-{size}", s.app.export_screenshot())
