"""Blocks of a question with every hidden character spelled out: people judge the exact text."""

from __future__ import annotations

import msgspec

from gatewright.tools.blocks import (
    Block,
    Code,
    Command,
    Diff,
    Hunk,
    Image,
    Markdown,
    Output,
    Table,
    Text,
    Todo,
    Unknown,
)
from gatewright.tui.sanitize import visible


def exact(block: Block) -> Block:
    """The same block; drawing it afterwards hides nothing more."""
    match block:
        case Text() | Markdown() | Code() | Output():
            return msgspec.structs.replace(block, text=visible(block.text, strict=True))
        case Diff(path=path, hunks=hunks):
            shown = tuple(map(_exact_hunk, hunks))
            return msgspec.structs.replace(block, path=visible(path, strict=True), hunks=shown)
        case Table(headers=headers, rows=rows):
            return Table(_all(headers), tuple(map(_all, rows)))
        case Command() | Todo() | Image() | Unknown():
            return block  # a command is drawn exactly anyway; the others are not judged


def _exact_hunk(hunk: Hunk) -> Hunk:
    lines = tuple(line[:1] + visible(line[1:], strict=True) for line in hunk.lines)
    return Hunk(hunk.old_start, hunk.new_start, lines)


def _all(cells: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(visible(cell, strict=True) for cell in cells)
