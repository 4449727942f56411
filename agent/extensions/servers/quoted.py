"""Words of a server in a question of ours, set apart: no line of theirs passes for one of ours."""

from __future__ import annotations

from collections.abc import Iterator

from gatewright.agent.text.printable import escaped
from gatewright.tools.blocks import Block, Code, Text

WIDTH = 72  # a longer line is parted here, and not by the screen where nothing would mark it
MARK = "│ "


def quoted(text: str, head: str) -> Iterator[Block]:
    """Nothing for an empty text."""
    if text.strip():
        yield Text(head, "dim")
        lines = (part for line in escaped(text).split("\n") for part in _parts(line))
        yield Code("\n".join(MARK + part for part in lines))


def _parts(line: str) -> Iterator[str]:
    """Where there are blanks if that can be; nothing of it is lost."""
    while len(line) > WIDTH:
        at = line.rfind(" ", WIDTH // 2, WIDTH) + 1 or WIDTH
        yield line[:at]
        line = line[at:]
    yield line
