"""A picture, as far as a terminal goes: what it is and where it lies."""

from __future__ import annotations

from gatewright.tools.blocks import Image
from gatewright.tui.line import Line, Span, wrap
from gatewright.tui.sanitize import one_line


def draw(block: Image, width: int) -> list[Line]:
    name = one_line(block.alt or block.path or "image")
    spans = [Span("▧ ", "accent"), Span(name), Span(f"  {one_line(block.media_type)}", "dim")]
    if block.path and block.alt:
        spans.append(Span(f"  {one_line(block.path)}", "dim"))
    return wrap(spans, width)
