"""What every list tells alike: its search, which row of how many is chosen, and that none fits."""

from __future__ import annotations

from gatewright.tui import cells
from gatewright.tui.line import Line, Span, line
from gatewright.tui.sanitize import one_line

NOTHING = "Nothing here."
NONE_FITS = "Nothing fits; ctrl+u empties the search."
LONGEST = 40  # cells of what is searched


def searched(text: str, *, typing: bool = True) -> list[Span]:
    """What is looked for, behind the title; with a cursor while keys go there."""
    shown = cells.fit(one_line(text), LONGEST)
    return [Span(f"   /{shown}", "accent"), Span("\u258f" if typing else "", "accent")]


def place(at: int, count: int, shown: int) -> list[Span]:
    """Which row is chosen of how many, where not all are seen."""
    return [Span(f"   {at + 1} of {count}", "faint")] if count > shown else []


def nothing(text: str) -> Line:
    """In the place of rows: what is searched for may be all that hides them."""
    return line(Span(NONE_FITS if text.strip() else NOTHING, "dim"))
