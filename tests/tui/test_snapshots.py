"""The screens as people see them, at two sizes and in three themes, one chosen after the other."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from gatewright.agent.commands.panels import Check, Finding, Health
from tests.fakes.books import Books
from tests.fakes.examples import proof
from tests.fakes.fake_session import FakeSession
from tests.tui.scenes import SCENES
from tests.tui.stage import Stage, stage
from tests.tui.svg import check
from tests.tui.test_sheets import RULES, doctor

SIZES = {"wide": (120, 44), "narrow": (80, 24)}
THEMES = ("dark", "light", "ansi")


LOOKS = [("narrow", THEMES), ("wide", THEMES[:1]), proof("wide", THEMES)]
every_look = pytest.mark.parametrize(("size", "themes"), LOOKS)


async def check_all(s: Stage, what: str, size: str, themes: Sequence[str]) -> None:
    """A theme that is chosen later looks as one that a screen begins with."""
    for theme in themes:
        s.app.themed.use(theme, keep=False)
        await s.settled()
        check(f"{what}-{theme}-{size}", s.app.export_screenshot())


@every_look
@pytest.mark.parametrize("scene", SCENES)
async def test_scene(scene: str, size: str, themes: Sequence[str]) -> None:
    async with stage(size=SIZES[size]) as s:
        SCENES[scene](s.session)
        await s.settled()
        await check_all(s, scene, size, themes)


@pytest.mark.parametrize("theme", THEMES)
async def test_a_theme_that_a_screen_begins_with(theme: str) -> None:
    async with stage(size=SIZES["narrow"], theme=theme) as s:
        SCENES["tools"](s.session)
        await s.settled()
        check(f"tools-{theme}-narrow", s.app.export_screenshot())


PANELS: dict[str, tuple[str, ...]] = {
    "menu": ("slash", "m"),
    "modes": (*"/mode", "space", "enter"),
    "history": (*"one", "enter", *"two", "enter", "ctrl+r"),
    "reader": ("ctrl+t", "slash", *"lease", "enter"),
    "help": (*"/help", "space", "enter"),
    "draft": (*"two", "ctrl+j", *"lines"),
}


@every_look
@pytest.mark.parametrize("panel", PANELS)
async def test_panel(panel: str, size: str, themes: Sequence[str]) -> None:
    async with stage(size=SIZES[size]) as s:
        SCENES["prose"](s.session)
        await s.settled()
        await s.press(*PANELS[panel])
        await s.settled()
        await check_all(s, f"panel-{panel}", size, themes)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("theme", THEMES)
async def test_the_list_of_themes_says_which_is_in_force(theme: str, size: str) -> None:
    async with stage(size=SIZES[size], theme=theme) as s:
        SCENES["prose"](s.session)
        await s.settled()
        await s.press(*"/theme", "space", "enter")
        await s.settled()
        check(f"panel-themes-{theme}-{size}", s.app.export_screenshot())


SHEETS: dict[str, tuple[str, ...]] = {
    "rules": (*"/permissions", "space", "enter"),
    "rule-field": (*"/permissions", "space", "enter", "WAIT", "enter", *"Bash(npm run *)"),
    "rule-moves": (*"/permissions", "space", "enter", "WAIT", "down", "enter"),
    "settings": (*"/config", "space", "enter"),
    "setting-list": (*"/config", "space", "enter", "WAIT", "enter"),
    "checks": (*"/doctor", "space", "enter"),
}


@every_look
@pytest.mark.parametrize("sheet", SHEETS)
async def test_sheet(sheet: str, size: str, themes: Sequence[str], tmp_path: Path) -> None:
    async with stage(with_books(tmp_path), size=SIZES[size]) as s:
        SCENES["prose"](s.session)
        await s.settled()
        await press_all(s, SHEETS[sheet])
        await check_all(s, f"sheet-{sheet}", size, themes)


@pytest.mark.parametrize("sheet", SHEETS)
async def test_sheet_in_little_room(sheet: str, tmp_path: Path) -> None:
    async with stage(with_books(tmp_path), size=(40, 10)) as s:
        await press_all(s, SHEETS[sheet])
        check(f"sheet-{sheet}-40x10", s.app.export_screenshot())


async def press_all(s: Stage, keys: tuple[str, ...]) -> None:
    for key in keys:
        if key == "WAIT":
            await s.until(lambda: s.app.repl.sheet.open)
            s.clock.now += 1
        else:
            await s.press(key)
    await s.until(lambda: s.app.repl.sheet.open)
    await s.settled()
    await s.settled()


def with_books(folder: Path) -> FakeSession:
    session = FakeSession()
    session.know("config")
    books = Books(folder, user=RULES, project={"autoCompact": False})
    session.permissions, session.settings = books.permissions, books.settings
    doctor(
        session,
        Check("Python", lambda: [Finding("Python", Health.GOOD, "3.13.1 at /usr/bin/python3")]),
        Check("Keys", lambda: [Finding("Keys", Health.WARN, "none found", "Run agent login.")]),
        Check("Own files", lambda: [Finding("Own files", Health.BAD, "full", "Make some room.")]),
    )
    return session


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
