"""What is painted before the framework is loaded, beside what the screen itself paints first."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

import pyte
import pytest
from rich.color import Color, ColorSystem
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from gatewright.tui.early.certain import NAMES, first_frame
from gatewright.tui.early.frame import MARK, STARTING, STEPS, Frame, nearest
from gatewright.tui.style.theme import PALETTES
from gatewright.tui.terminal.pen import Pen
from tests.e2e.program import Program
from tests.fakes.examples import proof, some
from tests.fakes.terminal import Terminal

ROOT = Path(__file__).resolve().parents[2]
DEEP = {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
PLENTY = {"TERM": "xterm-256color", "COLORTERM": ""}
Cell = tuple[str, str, str, bool]


def cells(screen: pyte.Screen) -> list[list[Cell]]:
    """What a person sees of each; the colour of a letter that is none is not seen."""
    rows: list[list[Cell]] = []
    for y in range(screen.lines):
        found = (screen.buffer[y][x] for x in range(screen.columns))
        rows.append([(c.data, "" if c.data == " " else c.fg, c.bg, c.reverse) for c in found])
    return rows


def painted(data: str, columns: int, rows: int) -> list[list[Cell]]:
    screen = pyte.Screen(columns, rows)
    pyte.Stream(screen).feed(data)
    return cells(screen)


def environment(program: Program, theme: str, colours: Mapping[str, str]) -> dict[str, str]:
    settings = program.home / ".gatewright" / "settings.json"
    settings.write_text(json.dumps({"ui": {"theme": theme}}), encoding="utf-8")
    return program.env(**colours)


def frame_of(env: Mapping[str, str], columns: int, rows: int) -> Frame:
    found = first_frame(env, columns, rows)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("theme", "colours", "size"),
    [
        ("dark", DEEP, (80, 24)),
        proof("auto", DEEP, (80, 24)),
        ("dark", PLENTY, (133, 40)),
        ("light", DEEP, (40, 18)),
        proof("minimal", PLENTY, (80, 24)),
        ("high-contrast", DEEP, (101, 31)),
        proof("colour-blind", PLENTY, (80, 24)),
    ],
)
@pytest.mark.parametrize("typed", some(["fix it", ""], 2))
def test_every_cell_of_it_is_in_the_first_frame_of_the_screen(
    program: Program,
    theme: str,
    colours: Mapping[str, str],
    size: tuple[int, int],
    typed: str,
) -> None:
    columns, rows = size
    env = environment(program, theme, colours)
    frame = frame_of(env, columns, rows)
    frame.settle(light=False)
    ours = painted(frame.whole(typed, max(0, len(typed) - 2)), columns, rows)
    argv = [sys.executable, "-m", "tests.tui.first_screen", theme]
    with Terminal(argv, cwd=ROOT, env=env, rows=rows, columns=columns) as terminal:
        terminal.wait_for(MARK, STARTING)
        if typed:
            terminal.send(f"{typed}\x1b[D\x1b[D")
        terminal.wait_until(lambda _: terminal.holds(lambda screen: same(ours, cells(screen))))


def same(ours: list[list[Cell]], theirs: list[list[Cell]]) -> bool:
    """What we painted is there; where we painted nothing the screen may say more."""
    return all(
        ours_ == theirs_ if y >= len(ours) - 4 or ours_[0] != " " else ours_[2] == theirs_[2]
        for y, (row, other) in enumerate(zip(ours, theirs, strict=True))
        for ours_, theirs_ in zip(row, other, strict=True)
    )


def test_another_colour_would_be_found() -> None:
    frame = Frame({**colours_of("dark"), "accent": "#000001"}, 80, 24, deep=True)
    right = Frame(colours_of("dark"), 80, 24, deep=True)
    assert not same(painted(frame.whole("", 0), 80, 24), painted(right.whole("", 0), 80, 24))


def colours_of(name: str) -> dict[str, object]:
    palette = PALETTES[name]
    return {
        "flat": palette.flat,
        "background": palette.background,
        "surface": palette.surface,
        "text": palette.text,
        "faint": palette.faint,
        "accent": palette.accent,
    }


def of_256(name: str, role: str) -> int:
    known = Color.parse(str(vars_of(name)[role]))
    assert known.triplet is not None
    return nearest(*known.triplet)


def vars_of(name: str) -> dict[str, object]:
    palette = PALETTES[name]
    return {**colours_of(name), "added": palette.added, "removed": palette.removed}


def test_grounds_are_told_apart_in_256_colours_and_none_is_black_that_is_not() -> None:
    assert {name for name, palette in PALETTES.items() if not palette.ansi} == NAMES
    for name in NAMES:
        assert of_256(name, "text") != of_256(name, "background")
        for role in ("background", "surface"):
            black = of_256(name, role) == 16
            assert not black or vars_of(name)[role] == "#000000", (name, role)
    for name in ("dark", "light", "colour-blind"):
        roles = ("background", "surface", "added", "removed")
        assert len({of_256(name, role) for role in roles}) == 4, name


def test_a_colour_of_256_is_the_nearest() -> None:
    cube = [(red, green, blue) for red in STEPS for green in STEPS for blue in STEPS]
    for number, colour in enumerate(cube, start=16):
        assert nearest(*colour) == number
    for number in range(24):
        assert nearest(*(8 + 10 * number,) * 3) == 232 + number


def test_what_is_drawn_later_has_the_colours_of_the_first_frame() -> None:
    pen = Pen()
    pen.begin(ColorSystem.EIGHT_BIT)
    ground = PALETTES["dark"].surface
    ((_, ink),) = pen.runs(Strip([Segment("a", Style(bgcolor=ground))]))
    assert ink.back == f"48;5;{of_256('dark', 'surface')}"


@pytest.mark.parametrize(
    "env",
    [
        {"TERM": "dumb"},
        {"TERM": "vt100"},
        {"TERM": "xterm", "COLORTERM": ""},
        {**DEEP, "NO_COLOR": "1"},
        {**DEEP, "COLUMNS": "70"},
        {**DEEP, "TEXTUAL_DRIVER": "x:y"},
    ],
)
def test_an_unusual_terminal_begins_as_ever(program: Program, env: Mapping[str, str]) -> None:
    assert first_frame({**program.env(), **env}, 80, 24) is None


@pytest.mark.parametrize("size", [(0, 0), (39, 24), (80, 17), (1000, 1000)])
def test_so_does_an_unusual_size(program: Program, size: tuple[int, int]) -> None:
    assert first_frame(program.env(**DEEP), *size) is None


@pytest.mark.parametrize(
    "text",
    [
        '{"ui": {"theme": "ansi"}}',
        '{"ui": {"theme": "mine"}}',
        '{"ui": {"vim": true}}',
        '{"ui": []}',
        '{"ui.theme": "light"}',
        "{",
        "[]",
    ],
)
def test_so_do_settings_that_change_it(program: Program, text: str) -> None:
    settings = program.home / ".gatewright" / "settings.json"
    settings.write_text(text, encoding="utf-8")
    assert first_frame(program.env(**DEEP), 80, 24) is None


def test_a_theme_of_the_persons_own_is_not_guessed(program: Program) -> None:
    themes = program.home / ".gatewright" / "themes"
    themes.mkdir()
    (themes / "dark.json").write_text("{}", encoding="utf-8")
    assert first_frame(program.env(**DEEP), 80, 24) is None


def test_a_project_that_says_something_of_the_screen_is_not_guessed(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = program.project / "a" / "b"
    deep.mkdir(parents=True)
    monkeypatch.chdir(deep)
    assert first_frame(program.env(**DEEP), 80, 24) is not None
    own = program.project / ".gatewright"
    own.mkdir()
    (own / "settings.local.json").write_text('{"ui": {"theme": "light"}}', encoding="utf-8")
    assert first_frame(program.env(**DEEP), 80, 24) is None
