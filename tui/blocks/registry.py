"""Which function draws which block; a block nobody knows is still shown as plain text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gatewright.tools import blocks
from gatewright.tools.blocks import Block
from gatewright.tui.blocks import code, command, diff, image, markdown, table, text, todo, unknown
from gatewright.tui.line import Line

DRAW: dict[type[Any], Callable[[Any, int], list[Line]]] = {
    blocks.Text: text.draw,
    blocks.Markdown: markdown.draw,
    blocks.Code: code.draw,
    blocks.Diff: diff.draw,
    blocks.Command: command.draw,
    blocks.Output: command.draw_output,
    blocks.Table: table.draw,
    blocks.Todo: todo.draw,
    blocks.Image: image.draw,
}


def draw(block: Block, width: int) -> list[Line]:
    """Rows of one block, each at most `width` cells."""
    return DRAW.get(type(block), unknown.draw)(block, max(8, width))


def draw_all(view: Sequence[Block], width: int) -> list[Line]:
    rows: list[Line] = []
    for block in view:
        rows += draw(block, width)
    return rows
