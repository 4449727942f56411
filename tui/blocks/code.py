"""Source code: coloured line by line, wrapped at the edge, copied without its margin."""

from __future__ import annotations

from gatewright.tools.blocks import Code
from gatewright.tui.blocks.highlight import highlight, language_of
from gatewright.tui.line import Line, Span, indent, wrap
from gatewright.tui.sanitize import visible

MARGIN = "  "


def code_rows(text: str, language: str, width: int, state: str = "") -> list[Line]:
    """Rows of code without any decoration; `language` is canonical."""
    rows: list[Line] = []
    for raw in text.split("\n"):
        spans, state = highlight(visible(raw), language, state)
        rows += wrap(spans, width, hard=True)
    return rows


def fence(text: str, language: str, width: int, state: str = "") -> list[Line]:
    """A fenced block of a message: a small margin and nothing else."""
    return indent(code_rows(text, language, width - len(MARGIN), state), MARGIN)


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
