"""What a newer version or an extension wrote: its plain form, so nothing is lost."""

from __future__ import annotations

from gatewright.tools.blocks import Block, plain
from gatewright.tui.line import Line, flow
from gatewright.tui.sanitize import visible


def draw(block: Block, width: int) -> list[Line]:
    return flow(visible(plain(block)), width, "dim", hard=True)
