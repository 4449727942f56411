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
        self._over: dict[tuple[str, str], Style] = {}  # a role on a background: few of each

    def use(self, name: str) -> None:
        """Switch the theme; whoever keeps strips has to make them anew."""
        self.palette = self.palettes[name]
        self._styles = styles_of(self.palette)
        self._over.clear()

    def style(self, role: str) -> Style:
        return self._styles(role)

    def strip(self, row: Line, width: int, side: int = 0, *, back: str = "background") -> Strip:
        """The row as exactly so many cells, with blank columns at both sides."""
        base = self._styles(back)
        segments = [Segment(" " * side, base)] if side else []
        size, ascii = side, True
        for span in row.spans:
            look = self._on(back, span.role)
            if span.link:
                look += Style(link=span.link)
            segments.append(Segment(span.text, look))
            size += len(span.text)
            ascii = ascii and span.text.isascii()
        if ascii and size < width and not row.fill:  # most rows: nothing has to be measured
            segments.append(Segment(" " * (width - size), base))
            return Strip(segments, width)
        strip = Strip(segments)
        if row.fill:
            strip = strip.adjust_cell_length(width - side, self._on(back, row.fill))
        return strip.adjust_cell_length(width, base)

    def _on(self, back: str, role: str) -> Style:
        known = self._over.get((back, role))
        if known is None:
            known = self._over[back, role] = self._styles(back) + self._styles(role)
        return known

    def blank(self, width: int, *, back: str = "background") -> Strip:
        return Strip.blank(width, self._styles(back))
