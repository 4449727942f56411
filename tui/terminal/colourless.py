"""NO_COLOR: text as the terminal writes it, told apart by bold, underline and reverse alone."""

from __future__ import annotations

from functools import lru_cache

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter


class Colourless(LineFilter):
    """Instead of the framework's greys."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002  the framework's signature
        return [
            Segment(text, None if style is None else _bare(style), control)
            for text, style, control in segments
        ]


@lru_cache(1024)
def _bare(style: Style) -> Style:
    return style.without_color
