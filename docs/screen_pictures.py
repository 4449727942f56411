"""Makes the pictures of docs/screen.md: the real screen, with what happens written down by hand.

Run it from the repository's root: `python docs/screen_pictures.py`; a test says when it is due.
"""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.fakes.fake_session import FakeSession
from tests.tui.scenes import edit, prose, rhythm
from tests.tui.stage import Stage, stage
from tests.tui.test_pictured import LISTS

FOLDER = Path(__file__).parent
SIZE = (100, 30)


async def empty(s: Stage) -> None:
    """Nothing was said yet."""
    await s.see("? keys")


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


SHOWN = (empty, turn, answer, question, context, models, tasks, reader)


async def taken() -> Mapping[str, str]:
    """The pictures as they are now, by their files."""
    made: dict[str, str] = {}
    for play in SHOWN:
        session = FakeSession()
        session.answering, session.instructions = "scripted-1 (--model)", ("AGENTS.md",)
        async with stage(session, size=SIZE) as s:
            await play(s)
            await s.settled()
            svg = s.app.export_screenshot(title="agent")
        svg = re.sub(r"terminal-\d+", "terminal", svg)
        svg = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL)
        svg = svg.replace("<svg ", '<svg xml:space="preserve" ', 1)
        svg = svg.replace("Fira Code", "DejaVu Sans Mono")
        svg = svg.replace("font-size: 20px", "font-size: 20.27px")
        made[f"screen-{play.__name__}.svg"] = svg
    return made


def main() -> None:
    for name, svg in asyncio.run(taken()).items():
        (FOLDER / name).write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
