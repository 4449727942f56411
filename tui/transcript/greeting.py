"""What stands where nothing was said yet: which program, where, who answers, how to begin."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from gatewright.agent.version import VERSION
from gatewright.tui import cells
from gatewright.tui.line import BLANK, Line, Span, indent, line, wrap
from gatewright.tui.sanitize import one_line

HINTS = ("/ commands", "@ files", "! shell", "? keys")
GAP = "   "
NAMED = 3  # instruction files
NONE = "no instruction files: /init writes one"
TRY = (
    ("what does this project do?", "asks about what is here"),
    ("/resume", "goes on with an earlier session"),
)


def greeting(
    folder: Path, width: int, answering: str = "", instructions: Sequence[str] | None = None
) -> list[Line]:
    """Indented as an answer is; hints that do not fit are left out from the end.

    `instructions` are the files that the model is told; None while nobody knows, whose row waits.
    """
    place = cells.fit_middle(one_line(shortened(folder)), width - 2)
    hints = list(HINTS)
    while len(GAP.join(hints)) > width - 2:
        hints.pop()
    facts = (one_line(answering), "" if instructions is None else _told(instructions))
    rows: list[Line] = [
        line(Span("Gatewright", "text:b"), Span(f"  {VERSION}", "faint")),
        line(Span(place, "dim")),
        *(row for fact in facts for row in wrap((Span(fact, "dim"),), width - 2)),
        BLANK,
        *_tries(width - 2),
        BLANK,
        line(Span(GAP.join(hints), "faint")),
    ]
    return indent(rows, "  ")


def _told(files: Sequence[str]) -> str:
    """`AGENTS.md, CLAUDE.md and 2 more`"""
    if not files:
        return NONE
    named = ", ".join(map(one_line, files[:NAMED]))
    return f"{named} and {len(files) - NAMED} more" if len(files) > NAMED else named


def _tries(width: int) -> list[Line]:
    """Two things to begin with, below each other."""
    size = max(cells.width(text) for text, _ in TRY)
    rows: list[Line] = []
    for text, does in TRY:
        fits = size + len(GAP) + cells.width(does) + 2 <= width
        shown = cells.pad(text, size) + GAP if fits else cells.fit(text, width - 2)
        rows.append(
            line(Span("\u203a ", "accent"), Span(shown), Span(does if fits else "", "faint"))
        )
    return rows


def shortened(folder: Path) -> str:
    """The path as people write it, with ~ for their home."""
    home = Path(os.environ.get("HOME", ""))
    if home.name and folder.is_relative_to(home):
        return str(Path("~") / folder.relative_to(home))
    return str(folder)
