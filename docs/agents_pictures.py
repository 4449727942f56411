"""Makes the pictures of docs/agents.md: the real screen with agents at work, written down by hand.

Run it from the repository's root: `python docs/agents_pictures.py`; a test says when it is due.
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
from gatewright.agent.record.messages import TextPart
from gatewright.tools.interact import Answer
from tests.tui.agent_scenes import REPORT, agent, agents, path, said
from tests.tui.scenes import tool
from tests.tui.stage import Stage


async def strip(s: Stage) -> None:
    """Four of them, the person among them."""
    agents(s.session)
    s.session.publish(ev.Answered(id=1, answer=Answer(cancelled=True)))
    await s.settled()
    await s.press("down", "down")
    await s.see("enter opens")


async def view(s: Stage) -> None:
    """One that works, live."""
    agent(s.session)
    s.session.publish(
        said("Find who renews the lease. Report with file and line."),
        ev.TurnStarted(),
        *tool("read", "1"),
        *tool("edit", "2"),
        ev.AssistantMessage(id="m", model="x", parts=(TextPart(REPORT),)),
        agent=path(0),
    )
    await s.settled()
    await s.press("down", "enter")
    await s.see("to Explore", "I changed nothing")


async def asks(s: Stage) -> None:
    """A question of one of several."""
    agents(s.session)
    await s.see("Stop general-purpose")


async def taken() -> Mapping[str, str]:
    return await pictures({"agents-strip": strip, "agents-view": view, "agents-asks": asks})


if __name__ == "__main__":
    write(asyncio.run(taken()))
