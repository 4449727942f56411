"""Tables: columns aligned, a rule under a header that says something, cells wrapped at need."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, TypeAlias

from gatewright.tools.blocks import Table
from gatewright.tui import cells
from gatewright.tui.line import Line, Span, clip, wrap
from gatewright.tui.sanitize import visible

Cell = Sequence[Span]
Side: TypeAlias = Literal["left", "center", "right"]
GAP = 2
_NUMBER = re.compile(r"[-+~<$]*\d[\d.,]*\s?(?:%|k|M|G|B|kB|MB|GB|s|ms|min|tokens|lines)?")
MIN_COLUMN = 6


def draw(block: Table, width: int) -> list[Line]:
    def spans(row: Sequence[str]) -> list[Cell]:
        return [(Span(visible(cell).replace("\n", " ")),) for cell in row]

    columns = range(max(map(len, (block.headers, *block.rows)), default=0))
    figures = [_numbers([row[n] for row in block.rows if n < len(row)]) for n in columns]
    sides: list[Side] = ["right" if each else "left" for each in figures]
    return grid(spans(block.headers), [spans(row) for row in block.rows], width, sides)


def _numbers(cells: Sequence[str]) -> bool:
    """Whether a column is read as figures: each ends below the others."""
    filled = [cell for cell in cells if cell.strip()]
    return bool(filled) and all(_NUMBER.fullmatch(cell.strip()) for cell in filled)


def grid(
    header: Sequence[Cell], body: Sequence[Sequence[Cell]], width: int, sides: Sequence[Side] = ()
) -> list[Line]:
    """Rows of a table of styled cells that fits the width; a row may have any length."""
    count = max(map(len, (header, *body)))
    if not count:
        return []
    header = [*header, *[()] * (count - len(header))]
    natural = [
        max([_size(row[column]) for row in (header, *body) if column < len(row)], default=0)
        for column in range(count)
    ]
    rest: list[Side] = ["left" for _ in range(count)]
    align: list[Side] = [*sides, *rest]
    align = align[:count]
    least = [_least(header, body, n, align[n]) for n in range(count)]
    room = width - GAP * (count - 1)
    if count > 1 and sum(least) > room and any(map(_size, header)):
        return [clip(row, width) for row in _apart(header, body, width)]
    sizes = _shrink(natural, least, room)
    rows: list[Line] = []
    if any(map(_size, header)):
        bold = [tuple(span._replace(role="heading") for span in cell) for cell in header]
        rows = _row(bold, sizes, align)
        rows.append(Line((Span("─" * min(width, sum(sizes) + GAP * (count - 1)), "faint"),)))
    for row in body:
        rows += _row([*row, *[()] * (count - len(row))], sizes, align)
    return [clip(row, width) for row in rows]


def _size(cell: Cell) -> int:
    return sum(cells.width(span.text) for span in cell)


def _least(header: Sequence[Cell], body: Sequence[Sequence[Cell]], n: int, side: Side) -> int:
    """Cells that a column cannot do without: figures and their names are never broken."""
    found = [row[n] for row in body if n < len(row)]
    if side == "right":
        words = [len(word) for span in header[n] for word in span.text.split()]
        return max([*map(_size, found), *words], default=1)
    return max(1, min(MIN_COLUMN, max(map(_size, (header[n], *found)))))


def _shrink(natural: list[int], least: list[int], room: int) -> list[int]:
    """Take space from the widest columns that have some until the table fits."""
    sizes = [max(1, size) for size in natural]
    while sum(sizes) > room:
        more = [n for n, size in enumerate(sizes) if size > least[n]]
        more = more or [n for n, size in enumerate(sizes) if size > 1]  # then cell by cell
        if not more:
            break
        widest = max(more, key=sizes.__getitem__)
        second = max([sizes[n] for n in more if n != widest], default=0)
        over = sum(sizes) - room
        spare = sizes[widest] - max(second, least[widest])
        sizes[widest] -= max(1, min(over, spare))
    return sizes


def _apart(header: Sequence[Cell], body: Sequence[Sequence[Cell]], width: int) -> list[Line]:
    """Each row for itself, where columns do not fit side by side: what it is, then the rest."""
    names = min(max(map(_size, header[1:])), max(1, width // 2))
    rows: list[Line] = []
    for row in body:
        first, *rest = row or ((),)
        rows += wrap([span._replace(role="heading") for span in first], width)
        for name, cell in zip(header[1:], rest, strict=False):
            if not _size(cell):
                continue
            label = cells.pad(cells.fit("".join(span.text for span in name), names), names)
            shown = wrap(cell, max(1, width - names - 2 * GAP))
            heads = [Span(" " * GAP + label, "dim"), Span(" " * (names + GAP))]
            for at, part in enumerate(shown):
                rows.append(Line((heads[at > 0], Span(" " * GAP), *part.spans)))
    return rows


def _row(row: Sequence[Cell], sizes: Sequence[int], sides: Sequence[Side]) -> list[Line]:
    columns = [wrap(cell, size) for cell, size in zip(row, sizes, strict=True)]
    rows: list[Line] = []
    for index in range(max(len(column) for column in columns)):
        spans: list[Span] = []
        for number, (column, size) in enumerate(zip(columns, sizes, strict=True)):
            part = column[index].spans if index < len(column) else ()
            left = size - _size(part)
            before = {"left": 0, "center": left // 2, "right": left}[sides[number]]
            spans += [Span(" " * before), *part, Span(" " * (left - before))]
            if number < len(columns) - 1:
                spans.append(Span(" " * GAP))
        rows.append(Line(tuple(span for span in spans if span.text)))
    return rows
