"""The screens at four sizes as plain text, the same in a dark and a light theme but for colours."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from rich.color import Color

from gatewright.tui.style.theme import PALETTES, Palette
from tests.fakes.examples import some
from tests.tui.agent_scenes import AGENT_SCENES
from tests.tui.scenes import SCENES
from tests.tui.stage import Stage, stage
from tests.tui.svg import UPDATE
from tests.tui.test_pictured import LISTS

FOLDER = Path(__file__).parent / "snapshots" / "text"
SIZES = [(80, 24), (120, 40), (40, 12), (200, 60)]


def scene(name: str) -> Callable[[Stage], Awaitable[None]]:
    async def play(s: Stage) -> None:
        {**SCENES, **AGENT_SCENES}[name](s.session)

    return play


def panel(name: str) -> Callable[[Stage], Awaitable[None]]:
    async def play(s: Stage) -> None:
        SCENES["rhythm"](s.session)
        await s.settled()
        assert s.app.repl.reach.open_panel(LISTS[name])

    return play


async def keys(s: Stage) -> None:
    SCENES["prose"](s.session)
    await s.settled()
    await s.press("question_mark")


SHOWN: dict[str, Callable[[Stage], Awaitable[None]]] = {
    "empty": scene("empty"),
    "prose": scene("prose"),
    "turn": scene("rhythm"),
    "edit": scene("edit"),
    "agents": scene("agents"),
    "context": panel("context"),
    "models": panel("model"),
    "tasks": panel("tasks"),
    "keys": keys,
}


@pytest.mark.parametrize("size", some(SIZES, 2))
@pytest.mark.parametrize("name", SHOWN)
async def test_it_is_as_it_was(name: str, size: tuple[int, int]) -> None:
    shown = await taken(name, size)
    file = FOLDER / f"{name}-{size[0]}x{size[1]}.txt"
    if os.environ.get(UPDATE):
        FOLDER.mkdir(exist_ok=True)
        file.write_text(shown, encoding="utf-8")
    assert file.exists(), f"{UPDATE}=1 writes it"
    assert shown == file.read_text(encoding="utf-8"), f"{UPDATE}=1 writes {file.name} anew"


async def taken(name: str, size: tuple[int, int]) -> str:
    """The rows, the same in both themes, after a look at whose colours they are."""
    async with stage(size=size, theme="light") as s:
        await SHOWN[name](s)
        shown: list[str] = []
        for theme in ("light", "dark"):
            s.app.themed.use(theme, keep=False)
            await s.settled()
            await s.settled()
            assert colours(s) <= own(PALETTES[theme])
            shown.append("".join(f"{row.rstrip()}\n" for row in s.text().split("\n")))
        assert shown[0] == shown[1]
        return shown[0]


def own(palette: Palette) -> set[str]:
    values = (*vars(palette).values(), *palette.modes.values())
    return {str(Color.parse(v).triplet) for v in values if isinstance(v, str) and v[:1] == "#"}


def colours(s: Stage) -> set[str]:
    """All that are on the screen."""
    compositor = s.app.screen._compositor  # pyright: ignore[reportPrivateUsage]
    found: set[str] = set()
    for strip in compositor.render_strips():
        for segment in strip:
            if segment.style is not None and segment.text.strip():
                both = (segment.style.color, segment.style.bgcolor)
                found |= {str(c.triplet) for c in both if c is not None and c.triplet is not None}
    return found
