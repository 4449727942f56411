"""The theme in force, shared by every widget: roles to styles, lines to strips."""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping
from functools import lru_cache

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter
from textual.strip import Strip

from gatewright.tui import cells
from gatewright.tui.line import Line, clip
from gatewright.tui.style.theme import DEFAULT, PALETTES, Palette, styles_of

_ACTS = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def _linked(style: Style, target: str) -> Style:
    """The same link has the same name each time, so that a row drawn again is the same row."""
    linked = style + Style(link=target)
    linked._link_id = f"{zlib.crc32(target.encode()):08x}"  # pyright: ignore[reportPrivateUsage]
    return linked


class Look:
    """One object for the whole screen; switching the theme changes it in place.

    `bare`: no colour will be seen, so what only a colour would tell apart has another mark.
    """

    def __init__(
        self,
        name: str = DEFAULT,
        own: Mapping[str, Palette] | None = None,
        *,
        bare: bool = False,
    ) -> None:
        self.bare = bare
        self.palettes: Mapping[str, Palette] = {**PALETTES, **(own or {})}
        self.palette = self.palettes.get(name, PALETTES[DEFAULT])
        self._styles = styles_of(self.palette, bare=self.bare)
        self._over: dict[tuple[str, str], Style] = {}  # a role on a background: few of each

    def learn(self, more: Mapping[str, Palette]) -> None:
        """There are these themes, too."""
        self.palettes = {**self.palettes, **more}

    def use(self, name: str) -> None:
        """Switch the theme; whoever keeps strips has to make them anew."""
        self.palette = self.palettes[name]
        self._styles = styles_of(self.palette, bare=self.bare)
        self._over.clear()

    def style(self, role: str) -> Style:
        return self._styles(role)

    def strip(self, row: Line, width: int, side: int = 0, *, back: str = "background") -> Strip:
        """The row as exactly so many cells, with blank columns at both sides."""
        base = self._styles(back)
        segments = [Segment(" " * side, base)] if side else []
        size = side
        for span in row.spans:
            look = self._on(back, span.role)
            if span.link:
                look = _linked(look, span.link)
            text = span.text
            if not text.isprintable():  # the last gate: whoever made the row, nothing in it acts
                text = _ACTS.sub("\ufffd", text)
            segments.append(Segment(text, look))
            size += cells.width(text)
        if size > width:
            if width > side + 1:  # whoever made the row: what is missing shows
                return self.strip(clip(row, width - side), width, side, back=back)
            return Strip(segments).adjust_cell_length(width, base)
        if row.fill and size < width - side:
            segments.append(Segment(" " * (width - side - size), self._on(back, row.fill)))
            size = width - side
        # measured by us: what the framework takes for narrower would push the end over the edge
        segments.append(Segment(" " * (width - size), base))
        return Strip(segments, width)

    def _on(self, back: str, role: str) -> Style:
        if role.startswith("@"):  # any number of colours: not worth keeping
            return self._styles(back) + self._styles(role)
        known = self._over.get((back, role))
        if known is None:
            known = self._over[back, role] = self._styles(back) + self._styles(role)
        return known

    def blank(self, width: int, *, back: str = "background") -> Strip:
        return Strip.blank(width, self._styles(back))


class Colourless(LineFilter):
    """NO_COLOR: text as the terminal writes it, told apart by bold, underline and reverse alone.

    Instead of the framework's greys.
    """

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002  the framework's signature
        return [
            Segment(text, None if style is None else _bare(style), control)
            for text, style, control in segments
        ]


@lru_cache(1024)
def _bare(style: Style) -> Style:
    return style.without_color
