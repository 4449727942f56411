"""A task list; the one in progress stands out, what is done steps back."""

from __future__ import annotations

from gatewright.tools.blocks import Todo
from gatewright.tui.line import Line, Span, flow, indent
from gatewright.tui.sanitize import visible

_LOOK = {
    "pending": ("○ ", "faint", "text"),
    "in_progress": ("◐ ", "accent", "text:b"),
    "completed": ("● ", "good", "dim"),
}


def draw(block: Todo, width: int) -> list[Line]:
    rows: list[Line] = []
    for item in block.items:
        mark, mark_role, role = _LOOK[item.state]
        rows += indent(flow(visible(item.text), width - 2, role), Span(mark, mark_role))
    return rows
