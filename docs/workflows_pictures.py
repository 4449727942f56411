"""Makes the pictures of docs/workflows.md: the real screen with a workflow, written down by hand.

Run it from the repository's root: `python docs/workflows_pictures.py`; a test says when it is due.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from docs.pictures import taken as pictures
from docs.pictures import write

from gatewright.agent.record import events as ev
from gatewright.tools.blocks import Code, Markdown, Table, Text
from gatewright.tools.interact import Ask, Option
from tests.fakes.run_book import RUN, FakeRuns
from tests.tui.scenes import prose
from tests.tui.stage import Stage

SCRIPT = (Path(__file__).parent / "examples" / "workflows" / "review-diff.js").read_text(
    encoding="utf-8"
)


async def ask(s: Stage) -> None:
    """The dialog before one begins."""
    body = (
        Markdown("Review a diff from several angles; every finding has to survive two attempts."),
        Table(("Phase", ""), (("Look", "one reviewer an angle"), ("Refute", "two a finding"))),
        Text("Agents: acceptEdits, all tools · claude-sonnet-5-5 · at most $5", "dim"),
        Code(SCRIPT, "javascript", "review-diff.js", folded=True),
    )
    options = (
        Option("once", "Yes", "y"),
        Option("always", "Yes, don't ask again this session", "a"),
        Option("no", "No", "n"),
    )
    title = "Run the workflow review-diff?"
    asked = Ask("permission", title, body, options, tool="Workflow")
    s.session.publish(ev.Asked(id=1, ask=asked))
    await s.see("v reads it", "No")


def running(s: Stage) -> None:
    started = ev.WorkflowStarted(run=RUN.id, name=RUN.name, description=RUN.description)
    s.session.publish(
        started,
        ev.WorkflowProgressed(
            run=RUN.id, name=RUN.name, phase=RUN.phase, total=RUN.total, done=RUN.done,
            live=RUN.running, failed=RUN.failed, tokens=RUN.tokens, cost=RUN.cost,
        ),
    )  # fmt: skip


async def strip(s: Stage) -> None:
    """A run below the conversation."""
    prose(s.session)
    running(s)
    await s.see("12/21", "$1.33")


async def runs(s: Stage) -> None:
    """All of them."""
    assert s.app.repl.reach.open_panel(FakeRuns().panel())
    await s.see("migrate-call")


async def agents(s: Stage) -> None:
    """Of one phase."""
    await runs(s)
    for key in ("enter", "down", "enter"):
        s.clock.now += 1
        await s.press(key)
    await s.see("app/store.py:7")


async def taken() -> Mapping[str, str]:
    plays = {"ask": ask, "strip": strip, "runs": runs, "agents": agents}
    return await pictures({f"workflows-{name}": play for name, play in plays.items()})


if __name__ == "__main__":
    write(asyncio.run(taken()))
