"""The first frame of the screen as bytes, before the framework is there: the cells `Repl` paints.

`tests/tui/test_first_frame.py` compares both. What the two say in words stands here once.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MARK = "\u276f"
HINT = "Ask anything, or / for commands"
STARTING = "starting"
BEFORE = 3  # cells of the prompt's row before its text, and one behind it
LEAST_COLUMNS = 40
LEAST_ROWS = 18  # below that the screen leaves things out
PLAIN, FAINT, INVERSE = "\x1b[0m", "\x1b[0;2m", "\x1b[0;7m"
STEPS = (0, 95, 135, 175, 215, 255)  # of the cube in 256 colours
TINTED = 0.25  # a saturation above which a dark colour is none of the greys


class Frame:
    """One size, one palette; `deep` terminals show any colour, others one of 256.

    With a palette for a light terminal it is plain, in the terminal's own colours, until `settle`.
    """

    def __init__(
        self,
        palette: Mapping[str, object],
        columns: int,
        rows: int,
        *,
        deep: bool,
        light: Mapping[str, object] | None = None,
    ) -> None:
        self.columns = columns
        self.rows = rows
        self.room = columns - BEFORE - 1
        self._deep = deep
        self._palette = palette
        self._light = light
        self.plain = light is not None

    @property
    def _flat(self) -> bool:
        return self._palette.get("flat") is True

    def settle(self, *, light: bool) -> bool:
        """It is known what the terminal's background is, or nobody says it in time.

        Whether it looks different now.
        """
        before = (self.plain, self._palette)
        self.plain = False
        if light and self._light is not None:
            self._palette = self._light
        return before != (self.plain, self._palette)

    def whole(self, text: str, at: int) -> str:
        """Every cell."""
        blank = self.on("text", "background") + " " * self.columns
        above = "".join(f"\x1b[{row};1H{blank}" for row in range(1, self.rows - 3))
        status = self.on("faint", "background") + f" {STARTING}".ljust(self.columns)
        edges = self._edge("\u2584", self.rows - 3) + self._edge("\u2580", self.rows - 1)
        return f"{above}{edges}\x1b[{self.rows};1H{status}{self.prompt(text, at)}"

    def _edge(self, half: str, row: int) -> str:
        if self.plain:
            return f"\x1b[{row};1H{PLAIN}{' ' * self.columns}"
        colours = self.on("faint", "surface") if self._flat else self.on("surface", "background")
        return f"\x1b[{row};1H{colours}{(chr(0x2500) if self._flat else half) * self.columns}"

    def prompt(self, text: str, at: int) -> str:
        """Its row, and nothing else."""
        plain = self.on("text", "surface")
        shown, colours = (text, plain) if text else (HINT, self.on("faint", "surface"))
        shown = shown.ljust(self.room)
        cursor = self.on("background", "text") + shown[at]
        mark = f"{plain} {self.on('accent', 'surface')}{MARK}{plain} "
        row = f"{mark}{colours}{shown[:at]}{cursor}{colours}{shown[at + 1 :]}{plain} "
        return f"\x1b[{self.rows - 2};1H{row}\x1b[0m\x1b[{self.rows - 2};{BEFORE + at + 1}H"

    def on(self, front: str, back: str) -> str:
        if self.plain:
            return INVERSE if front == "background" else FAINT if front == "faint" else PLAIN
        return f"\x1b[{self._colour(front, 38)};{self._colour(back, 48)}m"

    def _colour(self, name: str, ground: int) -> str:
        text = str(self._palette[name])
        red, green, blue = (int(text[start : start + 2], 16) for start in (1, 3, 5))
        if self._deep:
            return f"{ground};2;{red};{green};{blue}"
        return f"{ground};5;{nearest(red, green, blue)}"


def nearest(red: int, green: int, blue: int) -> int:
    """The one of 256 that is most like a colour: of the cube of six steps, or one of the greys.

    A colour off by as much in every part is only lighter, which is seen less than another one.
    What is dark and has a colour keeps it, in the darkest step there is.
    """
    parts, high, low = (red, green, blue), max(red, green, blue), min(red, green, blue)
    if high < STEPS[1] and high - low > TINTED * (high + low):
        return _cube([int(part > (high + low) / 2) for part in parts])
    grey = max(0, min(23, round((sum(parts) / 3 - 8) / 10)))
    found, least = 232 + grey, _unlike(parts, (8 + 10 * grey,) * 3)
    below = [max(n for n, step in enumerate(STEPS) if step <= part) for part in parts]
    for ups in range(8):
        steps = [min(5, step + (ups >> n & 1)) for n, step in enumerate(below)]
        unlike = _unlike(parts, [STEPS[step] for step in steps])
        if unlike < least:
            found, least = _cube(steps), unlike
    return found


def _unlike(one: Sequence[int], other: Sequence[int]) -> float:
    off = [mine - its for mine, its in zip(one, other, strict=True)]
    middle = sum(off) / 3
    return sum(part**2 + 2 * (part - middle) ** 2 for part in off)


def _cube(steps: Sequence[int]) -> int:
    return 16 + sum(step * size for step, size in zip(steps, (36, 6, 1), strict=True))
