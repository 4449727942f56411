"""Source code: coloured line by line, wrapped with a mark, copied without its margin."""

from __future__ import annotations

from gatewright.tools.blocks import Code
from gatewright.tui.blocks.highlight import highlight, language_of
from gatewright.tui.line import TAB, Line, Span, indent, slice_spans, wrap
from gatewright.tui.sanitize import visible

BAR = Span("▏ ", "faint")
WRAPPED = "↪ "


def code_rows(text: str, language: str, width: int, state: str = "") -> list[Line]:
    """Rows of code without any decoration; `language` is canonical."""
    rows: list[Line] = []
    for raw in text.split("\n"):
        text = visible(raw)
        spans, state = highlight(text.expandtabs(TAB) if "\t" in text else text, language, state)
        rows += wrapped(spans, width)
    return rows


def wrapped(spans: tuple[Span, ...], width: int) -> list[Line]:
    """One line of code without tabs; rows that it goes on in begin with a mark."""
    rows = wrap(spans, width, hard=True)
    if len(rows) == 1 or width <= 2 * len(WRAPPED):
        return rows
    size = len(rows[0].plain)
    first = rows[0]
    rest = wrap(slice_spans(spans, size, _length(spans)), width - len(WRAPPED), hard=True)
    return [first, *indent(rest, Span(WRAPPED, "faint"), Span(WRAPPED, "faint"))]


def _length(spans: tuple[Span, ...]) -> int:
    return sum(len(span.text) for span in spans)


def fence(text: str, language: str, width: int, state: str = "", *, label: str = "") -> list[Line]:
    """A fenced block of a message: a bar, over it the language, which no copy has."""
    rows = code_rows(text, language, width - len(BAR.text), state)
    if label:
        rows = [Line((Span(label, "faint"),), gutter=len(label), end=""), *rows]
    return indent(rows, BAR, BAR)


def draw(block: Code, width: int) -> list[Line]:
    """A listing with line numbers."""
    language = language_of(block.language or block.path)
    lines = block.text.removesuffix("\n").split("\n")  # the last end begins no further line
    digits = len(str(block.first_line + len(lines) - 1))
    rows: list[Line] = []
    state = ""
    for number, raw in enumerate(lines, block.first_line):
        spans, state = highlight(visible(raw), language, state)
        label = Span(f"{number:>{digits}}  ", "faint")
        rows += indent(wrap(spans, width - digits - 2, hard=True), label)
    return rows
