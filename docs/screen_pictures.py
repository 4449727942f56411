"""Makes the pictures of docs/screen.md: the real screen, with what happens written down by hand.

Run it from the repository's root: `python docs/screen_pictures.py`; a test says when it is due.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from docs.pictures import taken as pictures
from docs.pictures import write

from gatewright.agent.commands.outcome import Choice
from gatewright.agent.record.events import Asked
from gatewright.tools.blocks import Command
from gatewright.tools.interact import Always, Ask, Option, RuleWeighed, Weighed
from gatewright.tui.sessions.resuming import Last, OpenSession, Resuming
from tests.fakes.fake_session import FakeSession
from tests.tui.scenes import edit, prose, rhythm
from tests.tui.stage import Stage
from tests.tui.test_pictured import LISTS


async def empty(s: Stage) -> None:
    """Nothing was said yet."""
    s.app.resuming = Resuming(nothing, nobody, picks=False, last=last)
    s.app.repl.welcome.begin()
    await s.see("? keys", "last:")


async def last() -> Last:
    return Last("Mend the flaky lease test", "2 h")


async def nothing() -> Sequence[Choice]:
    return ()


def nobody(id: str) -> OpenSession:
    raise AssertionError(id)


async def turn(s: Stage) -> None:
    """The model at work."""
    rhythm(s.session)


async def answer(s: Stage) -> None:
    """What it wrote."""
    prose(s.session)


async def question(s: Stage) -> None:
    """What it may change."""
    edit(s.session)
    await s.see("v whole file")


PUSH = "git push origin main"
STEPS = (f"Bash({PUSH})", "Bash(git push origin:*)", "Bash(git push:*)", "Bash(git:*)")


async def rule(s: Stage) -> None:
    """What it may do from now on, before that is kept."""
    options = (
        Option("once", "Yes, once", "y"),
        Option("always", f"Yes, and always allow {STEPS[2]}", "Y"),
        Option("no", "No", "n"),
    )
    asked = Ask(
        kind="permission",
        title=f"Run {PUSH}",
        body=(Command(PUSH),),
        options=options,
        free_text=True,
        always=Always((STEPS[2],), (STEPS,), place="this project's local settings"),
    )
    s.session.weigh_hook = lambda _: Weighed((
        RuleWeighed(
            "Allows git push, alone or with anything behind it.",
            others=("git push --tags", "git push origin next"),
            warnings=(
                "It also lets run unasked: git push --force.",
                "Still refused: Bash(git push origin release:*) (managed).",
            ),
        ),
    ))  # fmt: skip
    prose(s.session)
    s.session.publish(Asked(id=1, ask=asked))
    await s.see("Yes, once")
    await s.settled()
    s.clock.now += 2
    await s.press("e")
    await s.see("It covers this call.")


async def opened(s: Stage, name: str) -> None:
    prose(s.session)
    await s.settled()
    assert s.app.repl.reach.open_panel(LISTS[name])
    await s.see("esc closes")


async def context(s: Stage) -> None:
    """A page to look at."""
    await opened(s, "context")


async def models(s: Stage) -> None:
    """A list to choose from."""
    await opened(s, "model")


async def tasks(s: Stage) -> None:
    """A table."""
    await opened(s, "tasks")


async def reader(s: Stage) -> None:
    """The whole conversation, searched."""
    prose(s.session)
    await s.settled()
    await s.press("ctrl+t", "slash", *"lease", "enter")
    await s.see(" of ")


SHOWN = (empty, turn, answer, question, rule, context, models, tasks, reader)


def session() -> FakeSession:
    """One whose model and instructions are told where nothing was said yet."""
    made = FakeSession()
    made.answering, made.instructions = "scripted-1 (--model)", ("AGENTS.md",)
    return made


async def taken() -> Mapping[str, str]:
    return await pictures({f"screen-{play.__name__}": play for play in SHOWN}, session)


if __name__ == "__main__":
    write(asyncio.run(taken()))
