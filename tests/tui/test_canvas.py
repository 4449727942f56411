"""Only changed cells are written, and what stands there is what painting everything would show."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import cast

import pyte
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyte.modes import DECAWM
from rich.color import ColorSystem
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual._compositor import ChopsUpdate, LayoutUpdate
from textual.geometry import Region
from textual.strip import Strip

from gatewright.tui.terminal.canvas import Canvas, erases
from gatewright.tui.terminal.pen import Pen
from tests.fakes.examples import many

CONSOLE = Console(force_terminal=True, color_system="truecolor")
LOOKS = [
    None,
    Style.parse("red on black"),
    Style.parse("green on black"),
    Style.parse("bold #0a0b0c on #102030"),
    Style.parse("underline"),
    Style.parse("reverse strike #ffffff"),
    Style.parse("italic dim on color(7)"),
    Style.parse("bright_red on bright_blue"),
    Style(link="https://example.org/"),
]
# Narrow, wide, emoji, and letters with a mark of their own.
LETTERS = ["a", "b", " ", "   ", "      ", "def", "\u6f22", "\u5b57", "\U0001f600", "e\u0301"]
LETTERS.append("\u258f")


class Board:
    """A terminal that is written to, and the frame that it should show."""

    def __init__(self, chance: random.Random, *, erases: bool = True) -> None:
        self.chance = chance
        self.canvas = Canvas(erases=erases)
        self.size = (0, 0)
        self.rows: list[Strip] = []
        self.written = 0
        self.resize()

    def resize(self) -> None:
        self.size = self.chance.randint(3, 30), self.chance.randint(2, 16)
        self.rows = [self.strip() for _ in range(self.size[1])]
        self.screen = pyte.Screen(*self.size)
        self.stream = pyte.Stream(self.screen)
        self.canvas.forget()
        self.whole()

    def strip(self, width: int = 0) -> Strip:
        width = width or self.size[0]
        segments = [
            Segment("".join(self.chance.choices(LETTERS, k=self.chance.randint(0, 4))), look)
            for look in self.chance.choices(LOOKS, k=self.chance.randint(0, 4))
        ]
        return Strip(segments).adjust_cell_length(width, self.chance.choice(LOOKS[:4]))

    def whole(self) -> None:
        region = Region(0, 0, *self.size)
        self.write(LayoutUpdate([[row] for row in self.rows], region))

    def part(self, changed: Sequence[int]) -> None:
        """Some rows, in one part or in several."""
        width, _ = self.size
        chops: list[dict[int, Strip | None]] = []
        ends: list[list[int]] = []
        for row in self.rows:
            cut = self.chance.choice([0, 0, width // 2])
            halves = Strip.join([row.crop(0, cut), row.crop(cut, width)])
            if cut and halves.text == row.text:  # no wide letter is cut through
                chops.append({0: row.crop(0, cut), cut: row.crop(cut, width)})
                ends.append([cut, width])
            else:
                chops.append({0: row})
                ends.append([width])
        spans = [(y, 0, width) for y in changed]
        self.write(ChopsUpdate(chops, spans, ends))

    def write(self, update: LayoutUpdate | ChopsUpdate) -> None:
        text = cast("LayoutUpdate", self.canvas.over(update)).render_segments(CONSOLE)
        self.written += len(text)
        self.stream.feed(text)

    def step(self) -> None:
        height = self.size[1]
        match self.chance.randrange(8):
            case 0 | 1:  # the transcript goes on, with what stands below it changed too
                by, below = self.chance.randint(1, height), self.chance.randint(0, 2)
                edge = max(1, height - below)
                new = [self.strip() for _ in range(min(by, edge))]
                self.rows[:edge] = [*self.rows[len(new) : edge], *new]
                self.part(range(height))
            case 2:  # back
                by = self.chance.randint(1, height)
                self.rows = [*(self.strip() for _ in range(by)), *self.rows][:height]
                self.part(range(height))
            case 3 | 4:
                changed = sorted(self.chance.sample(range(height), self.chance.randint(1, height)))
                for y in changed:
                    self.rows[y] = self.altered(self.rows[y])
                self.part(changed)
            case 5:
                self.rows = [self.strip() for _ in range(height)]
                self.whole()
            case 6:
                self.resize()
            case _:  # another program wrote there
                self.stream.feed("\x1b[2J\x1b[3;3Hsomething else")
                self.canvas.forget()
                self.whole()

    def altered(self, row: Strip) -> Strip:
        """Another part in the middle, where no letter is cut through."""
        width = self.size[0]
        at = self.chance.randrange(width)
        end = self.chance.randint(at, width)
        parts = [row.crop(0, at), self.strip(end - at) if end > at else Strip([]), row.crop(end)]
        whole = Strip.join(parts)
        return whole if whole.cell_length == width else self.strip()

    def check(self) -> None:
        anew = pyte.Screen(*self.size)
        stream = pyte.Stream(anew)
        stream.feed("\x1b[?7l")
        for y, row in enumerate(self.rows):
            stream.feed(f"\x1b[{y + 1};1H{row.render(CONSOLE)}")
        width, height = self.size
        for y in range(height):
            there = [self.screen.buffer[y][x] for x in range(width)]
            assert there == [anew.buffer[y][x] for x in range(width)], f"row {y}"
        assert self.screen.margins is None
        assert DECAWM in self.screen.mode


@given(seed=st.integers(0, 2**32), bce=st.booleans())
@settings(max_examples=many(400), deadline=None)
def test_what_stands_there_is_what_painting_everything_shows(seed: int, *, bce: bool) -> None:
    board = Board(random.Random(seed), erases=bce)
    board.check()
    for _ in range(12):
        board.step()
        board.check()


def test_rows_that_moved_are_moved_by_the_terminal() -> None:
    board = Board(random.Random(1))
    board.size = (80, 24)
    board.rows = [Strip([Segment(f"row {n} ".ljust(80, "."), LOOKS[1])]) for n in range(24)]
    board.screen = pyte.Screen(80, 24)
    board.stream = pyte.Stream(board.screen)
    board.canvas.forget()
    board.whole()
    board.written = 0
    more = [Strip([Segment(f"new {n} ".ljust(80, "."), LOOKS[1])]) for n in range(3)]
    board.rows = [*board.rows[3:], *more]
    board.part(range(24))
    board.check()
    assert board.written < 3 * 80 + 80
    board.written = 0
    board.whole()
    assert board.written == 0  # nothing is another one


@pytest.mark.parametrize(
    ("env", "does"),
    [
        ({"TERM": "xterm-256color"}, True),
        ({"TERM": "tmux-256color"}, True),
        ({"TERM": "screen-256color"}, False),
        ({"TERM": "xterm-256color", "STY": "1.pts"}, False),
        ({}, False),
    ],
)
def test_who_erases_with_the_background(env: dict[str, str], *, does: bool) -> None:
    assert erases(env) is does


@pytest.mark.parametrize("codes", ["bold", "dim", "underline", "blink", "reverse", "strike"])
@pytest.mark.parametrize("other", ["", "red on blue", "color(99) on #010203", "bold on default"])
def test_every_look_leads_to_every_other(codes: str, other: str) -> None:
    looks = [Style.parse(codes), Style.parse(f"{codes} {other}"), Style.parse(other or "none")]
    for first in looks:
        for second in looks:
            pen = Pen()
            pen.begin(ColorSystem.TRUECOLOR)
            strip = Strip([Segment("ab", first), Segment("cd", second), Segment("e", None)])
            pen.row(pen.runs(strip))
            ours, theirs = pyte.Screen(8, 1), pyte.Screen(8, 1)
            pyte.Stream(ours).feed(pen.end())
            pyte.Stream(theirs).feed(strip.render(CONSOLE))
            assert ours.buffer[0] == theirs.buffer[0]
