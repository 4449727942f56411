"""Styled lines as plain data: what renderers make, what the transcript shows, copies and searches.

A role names a meaning; only the theme knows colours. Nothing here is parsed as markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from gatewright.tui import cells

TAB = 4
_WIDE = (
    "\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60"
)
_WORD = re.compile(rf"\s+|[{_WIDE}]|[^\s{_WIDE}]+")


class Span(NamedTuple):
    """Text of one role; attributes follow a colon: `text:b` is bold, also i, u, s, d."""

    text: str
    role: str = "text"
    link: str = ""


class Line(NamedTuple):
    """One row. `gutter` cells are decoration that a copy leaves out, `end` joins it to the next."""

    spans: tuple[Span, ...] = ()
    gutter: int = 0
    end: str = "\n"
    fill: str = ""

    @property
    def plain(self) -> str:
        return "".join(span.text for span in self.spans)

    @property
    def width(self) -> int:
        return sum(cells.width(span.text) for span in self.spans)


BLANK = Line()


def line(*spans: Span | str, gutter: int = 0) -> Line:
    return Line(tuple(s if isinstance(s, Span) else Span(s) for s in spans if s), gutter)


def breaks(text: str, width: int) -> Iterator[tuple[int, int, str]]:
    """Where a text without newlines breaks: start, end, and what joined it to the next row."""
    width = max(1, width)
    if cells.width(text) <= width:
        yield 0, len(text), "\n"
        return
    start = end = used = 0
    for match in _WORD.finditer(text):
        word, size = match[0], cells.width(match[0])
        if used + size <= width:
            end, used = match.end(), used + size
        elif word.isspace():
            yield start, end, word
            start = end = match.end()
            used = 0
        else:
            if end > start:
                body = text[start:end].rstrip()
                yield start, start + len(body), text[start + len(body) : end]
            start, end, used = match.start(), match.end(), size
            if used > width:
                *full, _last = cells.cuts(word, width)
                for stop in full:
                    yield start, match.start() + stop, ""
                    start = match.start() + stop
                used = cells.width(text[start:end])
    yield start, end, "\n"


def chunks(text: str, width: int) -> Iterator[tuple[int, int, str]]:
    """Like `breaks`, at the last cell: for code, where every blank counts."""
    start = 0
    *full, last = cells.cuts(text, width)
    for stop in full:
        yield start, stop, ""
        start = stop
    yield start, last, "\n"


def slice_spans(spans: Sequence[Span], start: int, end: int) -> tuple[Span, ...]:
    """The spans between two character offsets of their joined text."""
    found: list[Span] = []
    at = 0
    for span in spans:
        stop = at + len(span.text)
        if stop > start and at < end:
            part = span.text[max(0, start - at) : end - at]
            found.append(Span(part, span.role, span.link))
        at = stop
        if at >= end:
            break
    return tuple(found)


def wrap(spans: Sequence[Span], width: int, *, hard: bool = False) -> list[Line]:
    """Rows for one logical line; `hard` breaks at the last cell instead of between words."""
    text = "".join(span.text for span in spans)
    if "\t" in text:
        spans = tuple(Span(s.text.expandtabs(TAB), s.role, s.link) for s in spans)
        text = "".join(span.text for span in spans)
    rows = chunks(text, width) if hard else breaks(text, width)
    return [Line(slice_spans(spans, start, end), end=joint) for start, end, joint in rows]


def indent(rows: Iterable[Line], first: Span | str, rest: Span | str = "") -> list[Line]:
    """Put a gutter before rows: `first` on the first one, `rest` (or blanks) on the others."""
    head = first if isinstance(first, Span) else Span(first)
    blank = rest or Span(" " * cells.width(head.text))
    tail = blank if isinstance(blank, Span) else Span(blank)
    out: list[Line] = []
    for number, row in enumerate(rows):
        mark = tail if number else head
        out.append(row._replace(spans=(mark, *row.spans), gutter=row.gutter + len(mark.text)))
    return out


def flow(text: str, width: int, role: str = "text", *, hard: bool = False) -> list[Line]:
    """Wrapped rows of a text that may hold newlines, all in one role."""
    rows: list[Line] = []
    for part in text.split("\n"):
        rows += wrap((Span(part, role),), width, hard=hard)
    return rows


def clip(row: Line, width: int) -> Line:
    """The row cut to a width, with an ellipsis where something is missing."""
    if row.width <= width:
        return row
    spans: list[Span] = []
    left = max(0, width - 1)
    for span in row.spans:
        size = cells.width(span.text)
        if size <= left:
            spans.append(span)
            left -= size
            continue
        part = span.text[: cells.cut(span.text, left)] if left else ""
        if part and cells.width(part) <= left:  # a wide first character may not fit at all
            spans.append(span._replace(text=part))
        break
    spans.append(Span("…", "faint"))
    return row._replace(spans=tuple(spans))


def restyle(row: Line, start: int, end: int, role: str) -> Line:
    """The row with the characters between two indexes in another role."""
    text = row.plain
    end = min(end, len(text))
    if start >= end:
        return row
    spans = (
        *slice_spans(row.spans, 0, start),
        Span(text[start:end], role),
        *slice_spans(row.spans, end, len(text)),
    )
    return row._replace(spans=spans)
