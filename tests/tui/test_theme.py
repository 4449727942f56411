"""Themes: enough contrast, every role in every theme, and files of the person's own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rich.color import Color

from gatewright.agent.settings import themes
from gatewright.agent.settings.schema import Ui
from gatewright.tui.app import AgentApp
from gatewright.tui.style.palette_file import read_palette, read_palettes
from gatewright.tui.style.theme import PALETTES, ROLES, Palette, styles_of
from gatewright.tui.style.themed import AUTO
from tests.fakes.fake_session import FakeSession
from tests.tui.stage import driven

COLOURED = [palette for palette in PALETTES.values() if not palette.ansi]


def luminance(colour: str) -> float:
    def channel(value: int) -> float:
        share = value / 255
        return share / 12.92 if share <= 0.03928 else ((share + 0.055) / 1.055) ** 2.4

    red, green, blue = Color.parse(colour).get_truecolor()
    return 0.2126 * channel(red) + 0.7152 * channel(green) + 0.0722 * channel(blue)


def contrast(one: str, two: str) -> float:
    high, low = sorted((luminance(one), luminance(two)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_settings_may_name_every_theme_and_no_other() -> None:
    assert (AUTO, *PALETTES) == themes.BUILT_IN


@pytest.mark.parametrize("palette", COLOURED, ids=lambda p: p.name)
def test_text_can_be_read(palette: Palette) -> None:
    strict = palette.name == "high-contrast"
    for back in (palette.background, palette.surface):
        for front in ("text", "accent", "good", "warning", "error", "dim"):
            least = 7.0 if strict else 4.5
            assert contrast(getattr(palette, front), back) >= least, front
        assert contrast(palette.faint, back) >= 4.5
    for back in (palette.added, palette.removed):
        assert contrast(palette.text, back) >= 7


CODE = ("keyword", "string", "number", "comment", "text")
GROUNDS = ("added", "removed", "added.word", "removed.word")


@pytest.mark.parametrize("palette", COLOURED, ids=lambda p: p.name)
def test_every_role_can_be_read_wherever_it_stands(palette: Palette) -> None:
    style = styles_of(palette)

    def hexed(color: Color | None, otherwise: str) -> str:
        return color.get_truecolor().hex if color is not None else otherwise

    roles = [*ROLES, *(f"{front}+{ground}" for front in CODE for ground in GROUNDS)]
    for role in roles:
        made = style(role)
        for behind in (palette.background, palette.surface):
            back = hexed(made.bgcolor, behind)
            front = hexed(made.color, palette.text)
            assert contrast(front, back) >= 4.5, (role, front, back)


@pytest.mark.parametrize("palette", PALETTES.values(), ids=lambda p: p.name)
def test_every_role_has_a_style(palette: Palette) -> None:
    style = styles_of(palette)
    for role in ROLES:
        assert style(role) == style(role)
        assert style(f"{role}:biu").bold
    for mode in ("default", "plan", "nobody knows this one"):
        assert style(f"mode.{mode}").color is not None


def test_the_colour_blind_theme_does_not_rely_on_red_and_green() -> None:
    palette = PALETTES["colour-blind"]
    for one, two in (("good", "error"), ("added", "removed")):
        first = Color.parse(getattr(palette, one)).get_truecolor()
        second = Color.parse(getattr(palette, two)).get_truecolor()
        assert first.blue - first.red > 20
        assert second.red - second.blue > 20


def test_an_own_theme_changes_some_colours() -> None:
    text = json.dumps({"base": "light", "accent": "#aa00ff", "modes": {"plan": "#00aa00"}})
    palette = read_palette("mine", text)
    assert (palette.name, palette.accent, palette.dark) == ("mine", "#aa00ff", False)
    assert palette.mode("plan") == "#00aa00"
    assert palette.text == PALETTES["light"].text


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "no JSON"),
        ("[]", "no JSON object"),
        ('{"base": "pink"}', "base is one of"),
        ('{"akcent": "#ffffff"}', "no colour akcent"),
        ('{"accent": "bluish"}', "write it as #rrggbb"),
        ('{"modes": 1}', "modes maps"),
    ],
)
def test_a_wrong_theme_says_what_is_wrong(text: str, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        read_palette("mine", text)


def test_wrong_files_are_told_and_left_out(tmp_path: Path) -> None:
    (tmp_path / "good.json").write_text('{"accent": "#aa00ff"}', encoding="utf-8")
    (tmp_path / "bad.json").write_text("{", encoding="utf-8")
    found, problems = read_palettes(tmp_path)
    assert list(found) == ["good"]
    assert len(problems) == 1
    assert "bad.json" in problems[0]


@pytest.mark.parametrize("role", ["code", "code:i"])
def test_without_colours_code_has_another_mark(role: str) -> None:
    for palette in PALETTES.values():
        assert not styles_of(palette)(role).bold
        assert styles_of(palette, bare=True)(role).bold
        assert not styles_of(palette, bare=True)("text").bold


async def test_settings_of_the_screen() -> None:
    own = {"mine": read_palette("mine", '{"accent": "#aa00ff"}')}
    ui = Ui(theme="mine", vim=True, reduced_motion=True, notify=False, show_thinking=True)

    async def open_session() -> object:
        return FakeSession().facade()

    app = AgentApp(open_session, ui=ui, own=own)  # type: ignore[arg-type]
    async with driven(app):
        assert app.look.palette.accent == "#aa00ff"
        assert app.repl.spinner.still
        assert app.repl.box.vim is not None
        assert app.attention.muted
        assert app.repl.transcript.records.open_thoughts
