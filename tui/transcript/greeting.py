"""What stands where nothing was said yet: which program, where, and how to begin."""

from __future__ import annotations

import os
from pathlib import Path

from gatewright.agent.version import VERSION
from gatewright.tui import cells
from gatewright.tui.line import BLANK, Line, Span, indent, line, wrap
from gatewright.tui.sanitize import one_line

HINTS = ("/ commands", "@ files", "! shell", "? keys")
GAP = "   "


def greeting(folder: Path, width: int, answering: str = "") -> list[Line]:
    """Indented as an answer is; hints that do not fit are left out from the end."""
    place = cells.fit_middle(one_line(shortened(folder)), width - 2)
    hints = list(HINTS)
    while len(GAP.join(hints)) > width - 2:
        hints.pop()
    return [
        line(Span("  "), Span("Gatewright", "text:b"), Span(f"  {VERSION}", "faint")),
        line(Span("  "), Span(place, "dim")),
        *indent(wrap((Span(one_line(answering), "dim"),), width - 2) if answering else [], "  "),
        BLANK,
        line(Span("  "), Span(GAP.join(hints), "faint")),
    ]


def shortened(folder: Path) -> str:
    """The path as people write it, with ~ for their home."""
    home = Path(os.environ.get("HOME", ""))
    if home.name and folder.is_relative_to(home):
        return str(Path("~") / folder.relative_to(home))
    return str(folder)
