"""A command as the shell gets it, and what it printed."""

from __future__ import annotations

from gatewright.agent.text.printable import as_run
from gatewright.tools.blocks import Command, Output
from gatewright.tui.blocks.highlight import highlight
from gatewright.tui.line import Line, Span, clip, flow, indent, wrap
from gatewright.tui.sanitize import one_line, stripped


def draw(block: Command, width: int) -> list[Line]:
    """Every character that is run, hidden ones spelled out."""
    rows: list[Line] = []
    state = ""
    for raw in as_run(block.command).split("\n"):
        spans, state = highlight(raw, "bash", state)
        rows += wrap(spans, width - 2, hard=True)
    rows = indent(rows, Span("$ ", "dim"), Span("  "))
    if block.cwd:
        rows += indent(flow(f"in {one_line(block.cwd, strict=True)}", width - 2, "dim"), "  ")
    if block.note:
        rows += indent(flow(one_line(block.note), width - 2, "dim"), "  ")
    return rows


def draw_output(block: Output, width: int) -> list[Line]:
    text = stripped(block.text).strip("\n")
    rows: list[Line] = []
    if text.strip():
        rows = flow(text, width, "dim", hard=True)
    elif not block.exit:
        rows = [Line((Span("no output", "faint"),))]
    if block.exit:
        rows.append(Line((Span(f"exit {block.exit}", "error"),)))
    return [clip(row, width) for row in rows]
