"""The screens as people see them, at two sizes and in three themes."""

from __future__ import annotations

import pytest

from tests.tui.scenes import SCENES
from tests.tui.stage import stage
from tests.tui.svg import check

SIZES = {"wide": (120, 44), "narrow": (80, 24)}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("theme", ["dark", "light", "ansi"])
@pytest.mark.parametrize("scene", SCENES)
async def test_scene(scene: str, theme: str, size: str) -> None:
    async with stage(size=SIZES[size], theme=theme) as s:
        SCENES[scene](s.session)
        await s.settled()
        check(f"{scene}-{theme}-{size}", s.app.export_screenshot())


PANELS: dict[str, tuple[str, ...]] = {
    "menu": ("slash", "m"),
    "modes": (*"/mode", "space", "enter"),
    "permissions": (*"/permissions", "space", "enter", "tab"),
    "themes": (*"/theme", "space", "enter"),
    "history": (*"one", "enter", *"two", "enter", "ctrl+r"),
    "reader": ("ctrl+t", "slash", *"lease", "enter"),
    "help": (*"/help", "space", "enter"),
    "draft": (*"two", "ctrl+j", *"lines"),
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("theme", ["dark", "light", "ansi"])
@pytest.mark.parametrize("panel", PANELS)
async def test_panel(panel: str, theme: str, size: str) -> None:
    async with stage(size=SIZES[size], theme=theme) as s:
        SCENES["prose"](s.session)
        await s.settled()
        await s.press(*PANELS[panel])
        await s.settled()
        check(f"panel-{panel}-{theme}-{size}", s.app.export_screenshot())


@pytest.mark.parametrize("theme", ["minimal", "high-contrast", "colour-blind"])
async def test_other_themes(theme: str) -> None:
    async with stage(size=SIZES["wide"], theme=theme) as s:
        SCENES["permission"](s.session)
        await s.settled()
        check(f"permission-{theme}-wide", s.app.export_screenshot())


@pytest.mark.parametrize("size", [(40, 10), (300, 60)])
async def test_extreme_sizes(size: tuple[int, int]) -> None:
    async with stage(size=size) as s:
        SCENES["tools"](s.session)
        SCENES["permission"](s.session)
        await s.settled()
        check(f"extreme-{size[0]}x{size[1]}", s.app.export_screenshot())
