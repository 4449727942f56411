"""The theme in force, shared by every widget: roles to styles, lines to strips."""

from __future__ import annotations

from collections.abc import Mapping

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from gatewright.tui.line import Line
from gatewright.tui.theme import DEFAULT, PALETTES, Palette, styles_of


class Look:
    """One object for the whole screen; switching the theme changes it in place."""

    def __init__(self, name: str = DEFAULT, own: Mapping[str, Palette] | None = None) -> None:
        self.palettes: Mapping[str, Palette] = {**PALETTES, **(own or {})}
        self.palette = self.palettes.get(name, PALETTES[DEFAULT])
        self._styles = styles_of(self.palette)

    def use(self, name: str) -> None:
        """Switch the theme; whoever keeps strips has to make them anew."""
        self.palette = self.palettes[name]
        self._styles = styles_of(self.palette)

    def style(self, role: str) -> Style:
        return self._styles(role)

    def strip(self, row: Line, width: int, side: int = 0, *, back: str = "background") -> Strip:
        """The row as exactly so many cells, with blank columns at both sides."""
        style = self._styles
        base = style(back)
        segments = [Segment(" " * side, base)] if side else []
        for span in row.spans:
            look = base + style(span.role)
            if span.link:
                look += Style(link=span.link)
            segments.append(Segment(span.text, look))
        strip = Strip(segments)
        if row.fill:
            strip = strip.adjust_cell_length(width - side, base + style(row.fill))
        return strip.adjust_cell_length(width, base)

    def blank(self, width: int, *, back: str = "background") -> Strip:
        return Strip.blank(width, self._styles(back))
