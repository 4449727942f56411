"""Output of a person's own program as styled lines: its colours stay, all else is made inert.

Only SGR sequences count, and only where a terminal would take them for such; blinking and hidden
text are shown as ordinary text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from gatewright.tui.line import TAB, Line, Span
from gatewright.tui.sanitize import Stripper, visible

MAX_CHARACTERS = 20_000
MAX_SEQUENCES = 2_000
_FIRST = 0x100000  # a private plane nobody draws with: one character stands for one sequence
_SGR = re.compile(r"(?:\x1b\[|\x9b)([0-9;:]{0,64})m")
_OURS = re.compile(r"[\U00100000-\U0010fffd]")
_SYMBOLS = re.compile(r"([\U000f0000-\U000ffffd]+)")  # private too, and drawn by patched fonts
_ON = {1: "b", 2: "f", 3: "i", 4: "u", 7: "r", 9: "s"}
_OFF = {22: "bf", 23: "i", 24: "u", 27: "r", 29: "s"}
_COLORS: Mapping[int, tuple[bool, str]] = {  # whether it is the front, and the colour
    39: (True, ""),
    49: (False, ""),
    **{30 + n: (True, f"color({n})") for n in range(8)},
    **{90 + n: (True, f"color({n + 8})") for n in range(8)},
    **{40 + n: (False, f"color({n})") for n in range(8)},
    **{100 + n: (False, f"color({n + 8})") for n in range(8)},
}
_NAMES = {"b": "bold", "f": "dim", "i": "italic", "u": "underline", "r": "reverse", "s": "strike"}


class Pen(NamedTuple):
    """How the next character is drawn."""

    front: str = ""
    back: str = ""
    attributes: frozenset[str] = frozenset()

    @property
    def role(self) -> str:
        plain = sorted(self.attributes - {"f"})
        if not self.front and not self.back:
            return "dim" + (":" + "".join(plain) if plain else "")
        words = [_NAMES[letter] for letter in sorted(self.attributes)]
        if self.front:
            words.append(self.front)
        if self.back:
            words.append(f"on {self.back}")
        return "@" + " ".join(words)


def lines(output: str, most: int) -> list[Line]:
    """The first lines that show something; blank ones at the beginning and end are left out."""
    text = output[:MAX_CHARACTERS].replace("\r\n", "\n")
    text = _OURS.sub(lambda match: f"<U+{ord(match[0]):04X}>", text)
    codes: list[str] = []

    def stand_in(match: re.Match[str]) -> str:
        if len(codes) >= MAX_SEQUENCES:
            return ""
        codes.append(match[1])
        return chr(_FIRST + len(codes) - 1)

    stripper = Stripper()
    text = (stripper.feed(_SGR.sub(stand_in, text)) + stripper.finish()).strip("\n")
    found: list[Line] = []
    pen = Pen()
    for row in text.split("\n")[:most]:
        spans, pen = _row(row.split("\r")[-1] or row.replace("\r", ""), codes, pen)
        found.append(Line(spans))
    while found and not found[-1].plain.strip():
        found.pop()
    return found


def _row(row: str, codes: list[str], pen: Pen) -> tuple[tuple[Span, ...], Pen]:
    spans: list[Span] = []
    at = 0
    for match in _OURS.finditer(row):
        spans += _span(row[at : match.start()], pen)
        pen = _turned(pen, codes[ord(match[0]) - _FIRST])
        at = match.end()
    spans += _span(row[at:], pen)
    return tuple(spans), pen


def _span(text: str, pen: Pen) -> list[Span]:
    """Symbols of patched fonts stay; they hide and reorder nothing."""
    parts = _SYMBOLS.split(text.replace("\t", " " * TAB))
    shown = "".join(part if n % 2 else visible(part) for n, part in enumerate(parts))
    return [Span(shown, pen.role)] if shown else []


def _turned(pen: Pen, codes: str) -> Pen:
    """The pen after one sequence; what nobody knows changes nothing."""
    numbers = _numbers(codes)
    for code in numbers:
        match code:
            case 0:
                pen = Pen()
            case 38 | 48:
                color = _color(numbers)
                if color:
                    pen = pen._replace(front=color) if code == 38 else pen._replace(back=color)
            case _ if code in _COLORS:
                front, name = _COLORS[code]
                pen = pen._replace(front=name) if front else pen._replace(back=name)
            case _ if code in _ON:
                pen = pen._replace(attributes=pen.attributes | {_ON[code]})
            case _ if code in _OFF:
                pen = pen._replace(attributes=pen.attributes - set(_OFF[code]))
            case _:
                pass
    return pen


def _numbers(codes: str) -> Iterator[int]:
    """With colons, the parts of one value: `38:2::r:g:b` has a colour space that is left out."""
    for part in codes.split(";"):
        inner = part.split(":")
        if len(inner) == 1:
            yield int(part or 0)
        elif inner[0] == "4":
            yield 24 if inner[1] == "0" else 4
        elif inner[0] in ("38", "48"):
            values = inner if inner[1] != "2" or len(inner) < 6 else [*inner[:2], *inner[3:]]
            yield from (int(value or 0) for value in values[: 3 if inner[1] == "5" else 5])


def _color(numbers: Iterator[int]) -> str:
    """The colour that follows 38 or 48; empty where it is none."""
    match next(numbers, 0):
        case 5:
            number = next(numbers, 256)
            return f"color({number})" if number < 256 else ""
        case 2:
            red, green, blue = (next(numbers, 256) for _ in range(3))
            return f"#{red:02x}{green:02x}{blue:02x}" if max(red, green, blue) < 256 else ""
        case _:
            return ""
