"""What the pictures of all pages have in common: their size, how they are taken, and how they are
stored so that they look alike wherever they are shown.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from tests.fakes.fake_session import FakeSession
from tests.tui.stage import Stage, stage

FOLDER = Path(__file__).parent
SIZE = (100, 30)
Play = Callable[[Stage], Awaitable[None]]


def stored(svg: str) -> str:
    """Without what is another each time, and in a font that every machine has."""
    svg = re.sub(r"terminal-\d+", "terminal", svg)
    svg = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL)
    svg = svg.replace("<svg ", '<svg xml:space="preserve" ', 1)
    return svg.replace("Fira Code", "DejaVu Sans Mono").replace(
        "font-size: 20px", "font-size: 20.27px"
    )


async def taken(
    plays: Mapping[str, Play], session: Callable[[], FakeSession] = FakeSession
) -> Mapping[str, str]:
    """The pictures as they are now, by their files: each of the screen at the end of its play."""
    made: dict[str, str] = {}
    for name, play in plays.items():
        async with stage(session(), size=SIZE) as s:
            await play(s)
            await s.settled()
            made[f"{name}.svg"] = stored(s.app.export_screenshot(title="agent"))
    return made


def write(pictures: Mapping[str, str]) -> None:
    """Put them where the pages look for them."""
    for name, svg in pictures.items():
        (FOLDER / name).write_text(svg, encoding="utf-8")
