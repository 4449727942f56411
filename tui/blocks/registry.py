"""Which function draws which block; a block nobody knows is still shown as plain text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gatewright.tools import blocks
from gatewright.tools.blocks import Block, plain
from gatewright.tui.blocks import code, command, diff, markdown, shares, table
from gatewright.tui.line import Line, Span, flow, indent, wrap
from gatewright.tui.sanitize import one_line, visible

TODO = {
    "pending": ("○ ", "faint", "text"),
    "in_progress": ("◐ ", "accent", "text:b"),
    "completed": ("● ", "good", "dim"),
}


def draw(block: Block, width: int) -> list[Line]:
    """Rows of one block, each at most `width` cells."""
    return DRAW.get(type(block), _unknown)(block, max(8, width))


def draw_all(view: Sequence[Block], width: int) -> list[Line]:
    rows: list[Line] = []
    for block in view:
        rows += draw(block, width)
    return rows


def role_of(tone: str) -> str:
    """A tone has the name of its role but for the usual one."""
    return "text" if tone == "normal" else tone


def _text(block: blocks.Text, width: int) -> list[Line]:
    return flow(visible(block.text), width, role_of(block.tone))


def _todo(block: blocks.Todo, width: int) -> list[Line]:
    """The one in progress stands out, what is done steps back."""
    rows: list[Line] = []
    for item in block.items:
        mark, mark_role, role = TODO[item.state]
        rows += indent(flow(visible(item.text), width - 2, role), Span(mark, mark_role))
    return rows


def _image(block: blocks.Image, width: int) -> list[Line]:
    """As far as a terminal goes: what it is and where it lies."""
    name = one_line(block.alt or block.path or "image")
    spans = [Span("▧ ", "accent"), Span(name), Span(f"  {one_line(block.media_type)}", "dim")]
    if block.path and block.alt:
        spans.append(Span(f"  {one_line(block.path)}", "dim"))
    return wrap(spans, width)


def _unknown(block: Block, width: int) -> list[Line]:
    """What a newer version or an extension wrote: its plain form, so nothing is lost."""
    return flow(visible(plain(block)), width, "dim", hard=True)


DRAW: dict[type[Any], Callable[[Any, int], list[Line]]] = {
    blocks.Text: _text,
    blocks.Markdown: markdown.draw,
    blocks.Code: code.draw,
    blocks.Diff: diff.draw,
    blocks.Command: command.draw,
    blocks.Output: command.draw_output,
    blocks.Table: table.draw,
    blocks.Shares: shares.draw,
    blocks.Todo: _todo,
    blocks.Image: _image,
}
