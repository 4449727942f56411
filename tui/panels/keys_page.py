"""What the keys do: the most needed side by side where there is room, then each in more words."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from gatewright.tools.blocks import Table
from gatewright.tui import cells
from gatewright.tui.blocks.table import draw
from gatewright.tui.keys import BRIEF, KEYS, Key
from gatewright.tui.line import BLANK, Line, Span, line
from gatewright.tui.panels.page import PageView

GAP = 2


class KeysPage(PageView):
    """A page like others, laid out for the width it has."""

    def __init__(self) -> None:
        super().__init__("Keys", ())

    def _drawn(self, width: int) -> list[Line]:
        blocks = [_column(title, keys) for title, keys in BRIEF]
        room = sum(column[0].width for column in blocks) + GAP * (len(blocks) - 1)
        every = draw(Table(("Key", "What it does"), tuple((k.keys, k.help) for k in KEYS)), width)
        if room > width:
            return every
        return [*_beside(blocks), BLANK, *every]


def _column(title: str, keys: Sequence[Key]) -> list[Line]:
    """Rows of one width each."""
    named = max(cells.width(key.keys) for key in keys)
    told = max(cells.width(key.help) for key in keys)
    rows = [
        line(
            Span(cells.pad(key.keys, named), "accent"), Span("  "), Span(cells.pad(key.help, told))
        )
        for key in keys
    ]
    return [line(Span(cells.pad(title, rows[0].width), "heading")), *rows]


def _beside(columns: Sequence[Sequence[Line]]) -> list[Line]:
    blank = [line(Span(" " * column[0].width)) for column in columns]
    return [
        Line(tuple(span for n, part in enumerate(parts) for span in _spaced(part or blank[n], n)))
        for parts in zip_longest(*columns)
    ]


def _spaced(part: Line, number: int) -> tuple[Span, ...]:
    return (Span(" " * GAP), *part.spans) if number else part.spans
