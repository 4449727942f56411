"""Writes runs of cells with as few bytes as tell them from the ones before: a look is set once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from rich.color import ColorSystem
from rich.style import Style
from textual.strip import Strip

from gatewright.tui.early.frame import nearest

KEPT = 4096  # looks, and steps from one to another; a picture made of letters may have many
END_LINK = "\x1b]8;;\x1b\\"


class Ink(NamedTuple):
    """How cells look, as the terminal is told it."""

    codes: tuple[str, ...] = ()  # bold and the like
    front: str = ""
    back: str = ""
    link: str = ""

    @property
    def all(self) -> tuple[str, ...]:
        return (*self.codes, *filter(None, (self.front, self.back)))


PLAIN = Ink()
# Neighbours look different.
Row: TypeAlias = tuple[tuple[str, Ink], ...]


class Pen:
    """Between two updates the terminal's look is the plain one."""

    def __init__(self) -> None:
        self._inks: dict[Style, Ink] = {}
        self._steps: dict[tuple[Ink, Ink], str] = {}
        self._colors = ColorSystem.TRUECOLOR
        self._now = PLAIN
        self._out: list[str] = []

    def begin(self, colors: ColorSystem) -> None:
        if colors is not self._colors:
            self._colors = colors
            self._inks.clear()
        self._now, self._out = PLAIN, []

    def end(self) -> str:
        self._look(PLAIN)
        return "".join(self._out)

    def runs(self, strip: Strip) -> Row:
        """A strip's cells; neighbours that look the same are one run."""
        out: list[tuple[str, Ink]] = []
        last: Ink | None = None
        for text, style, _control in strip:
            if not text:
                continue
            ink = PLAIN if style is None else self._ink(style)
            if ink is last or ink == last:
                out[-1] = (out[-1][0] + text, ink)
            else:
                out.append((text, ink))
                last = ink
        return tuple(out)

    def move(self, x: int, y: int) -> None:
        self._out.append(f"\x1b[{y + 1};{x + 1}H" if x else f"\x1b[{y + 1}H")

    def row(self, runs: Sequence[tuple[str, Ink]]) -> None:
        for text, ink in runs:
            if text:
                self._look(ink)
                self._out.append(text)

    def erases(self, ink: Ink, *, whole: bool) -> bool:
        """Whether erased cells look so; `whole`: with the background that is set."""
        return not ink.codes and not ink.link and (whole or not ink.back)

    def erase(self, ink: Ink) -> None:
        """The rest of the row."""
        self._look(ink)
        self._out.append("\x1b[K")

    def scroll(self, top: int, bottom: int, by: int, comes: Row | None) -> None:
        """Move rows up, or down where it is negative; what comes is erased."""
        if comes:
            self._look(comes[-1][1])  # nothing flashes where the rows are not there yet
        step, at = ("\n" * by, bottom) if by > 0 else ("\x1bM" * -by, top)
        self._out.append(f"\x1b[{top + 1};{bottom + 1}r\x1b[{at + 1}H{step}\x1b[r")

    def _look(self, ink: Ink) -> None:
        before = self._now
        if before is ink:
            return
        self._now = ink
        step = self._steps.get((before, ink))
        if step is None:
            if len(self._steps) >= KEPT:
                self._steps.clear()
            step = self._steps[before, ink] = _step(before, ink)
        self._out.append(step)

    def _ink(self, style: Style) -> Ink:
        found = self._inks.get(style)
        if found is None:
            if len(self._inks) >= KEPT:
                self._inks.clear()
            found = self._inks[style] = _made(style, self._colors)
        return found


def _made(style: Style, colors: ColorSystem) -> Ink:
    front = back = link = ""
    codes: list[str] = []
    few = colors is ColorSystem.EIGHT_BIT  # the library's own choice makes dark grounds black
    told = Strip.render_ansi(style, ColorSystem.TRUECOLOR if few else colors)
    left = iter(filter(None, told.split(";")))
    for code in left:
        if code in ("38", "48"):
            kind = next(left, "")
            values = [next(left, "") for _ in range(3 if kind == "2" else 1)]
            if few and kind == "2":
                red, green, blue = map(int, values)
                kind, values = "5", [str(nearest(red, green, blue))]
            color = ";".join((code, kind, *values))
            front, back = (color, back) if code == "38" else (front, color)
        elif len(code) > 1 and ((code[0] in "39" and code[-1] <= "7") or code == "39"):
            front = "" if code == "39" else code
        elif len(code) > 1 and ((code[0] == "4" and code[-1] <= "7") or code[:2] == "10"):
            back = code
        elif code == "49":
            back = ""
        else:
            codes.append(code)
    if style.link:
        link = f"\x1b]8;id={style.link_id};{style.link}\x1b\\"
    return Ink(tuple(codes), front, back, link)


def _step(before: Ink, ink: Ink) -> str:
    """From one look to another, the shorter of two ways."""
    anew = ";".join(("", *ink.all)) if ink.all else ""
    step = f"\x1b[{anew}m"
    if set(before.codes) <= set(ink.codes):
        codes = [code for code in ink.codes if code not in before.codes]
        if ink.front != before.front:
            codes.append(ink.front or "39")
        if ink.back != before.back:
            codes.append(ink.back or "49")
        short = f"\x1b[{';'.join(codes)}m" if codes else ""
        step = min(step, short, key=len)
    if ink.link != before.link:
        step += ink.link or END_LINK
    return step
