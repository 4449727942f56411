"""Agents as people see them: in the strip, in their view, asking; also in little room."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from gatewright.agent.record import events as ev
from gatewright.agent.record.messages import TextPart
from gatewright.tools.interact import Answer
from gatewright.tui.ask.guard import GUARD
from tests.tui.agent_scenes import AGENT_SCENES, REPORT, path, said
from tests.tui.scenes import tool
from tests.tui.stage import Stage, stage
from tests.tui.svg import check
from tests.tui.test_snapshots import SIZES, check_all, every_look


async def entered(s: Stage) -> None:
    """In the strip of twenty, some rows down."""
    AGENT_SCENES["crowd"](s.session)
    await s.settled()
    await s.press("down", "down", "down", "down")
    await s.until(lambda: s.app.repl.agents.entered)


async def view(s: Stage) -> None:
    """The view of one that works."""
    AGENT_SCENES["agent"](s.session)
    s.session.publish(
        said("Find who renews the lease."),
        ev.TurnStarted(),
        *tool("read", "1"),
        *tool("bash", "2"),
        ev.AssistantMessage(id="m", model="x", parts=(TextPart(REPORT),)),
        agent=path(0),
    )
    await s.settled()
    await s.press("down", "enter")
    await s.see("esc goes back")
    s.clock.now += 2 * GUARD
    s.session.publish(ev.TextDelta(text="One thing is left to look at: the "), agent=path(0))
    await s.see("left to look at")


async def opened(s: Stage) -> None:
    """The report of one that is done, opened."""
    AGENT_SCENES["agents"](s.session)
    s.session.publish(ev.Answered(id=1, answer=Answer(cancelled=True)))
    await s.gone("Yes, once")
    await s.press("ctrl+o")
    await s.until(lambda: bool(s.app.repl.transcript.records._expanded))  # pyright: ignore[reportPrivateUsage]


STEPS = {step.__name__: step for step in (entered, view, opened)}


@every_look
@pytest.mark.parametrize("step", STEPS)
async def test_agents(step: str, size: str, themes: Sequence[str]) -> None:
    async with stage(size=SIZES[size]) as s:
        await STEPS[step](s)
        await s.settled()
        await check_all(s, f"agents-{step}", size, themes)


@pytest.mark.parametrize("scene", [*AGENT_SCENES, *STEPS])
async def test_in_little_room(scene: str) -> None:
    async with stage(size=(40, 10)) as s:
        if scene in STEPS:
            await STEPS[scene](s)
        else:
            AGENT_SCENES[scene](s.session)
        await s.settled()
        check(f"agents-{scene}-40x10", s.app.export_screenshot())
