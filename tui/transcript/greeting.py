"""What stands where nothing was said yet: which program, where, who answers, how to begin."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from gatewright.agent.version import VERSION
from gatewright.tui import cells
from gatewright.tui.line import BLANK, Line, Span, indent, line, wrap
from gatewright.tui.sanitize import one_line
from gatewright.tui.sessions.resuming import Last

HINTS = ("/ commands", "@ files", "! shell", "? keys")
GAP = "   "
NAMED = 3  # instruction files
LEAST = 20  # cells of a title worth its row
NONE = "no instruction files: /init writes one"
ASK = ("what does this project do?", "asks about what is here")
RESUME = ("/resume", "goes on with an earlier session")
FIRST = ("/help", "shows what there is")  # where there is no earlier one
GOES_ON = "agent -c"


class Facts(NamedTuple):
    """`instructions` are the files that the model is told, `last` is the session used last here.

    None while nobody knows: the rows of both wait.
    """

    answering: str = ""
    instructions: Sequence[str] | None = None
    last: Last | None = None


def greeting(folder: Path, width: int, facts: Facts) -> list[Line]:
    """Indented as an answer is; hints that do not fit are left out from the end."""
    place = cells.fit_middle(one_line(shortened(folder)), width - 2)
    hints = list(HINTS)
    while len(GAP.join(hints)) > width - 2:
        hints.pop()
    known = "" if facts.instructions is None else _told(facts.instructions)
    rows: list[Line] = [
        line(Span("Gatewright", "text:b"), Span(f"  {VERSION}", "faint")),
        line(Span(place, "dim")),
        *_wrapped(one_line(facts.answering), width - 2),
        *_wrapped(known, width - 2),
        line(Span(_before(facts.last, width - 2), "dim")),
        BLANK,
        *_tries(width - 2, facts.last),
        BLANK,
        line(Span(GAP.join(hints), "faint")),
    ]
    return indent(rows, "  ")


def _wrapped(fact: str, width: int) -> list[Line]:
    return wrap((Span(fact, "dim"),), width)


def _before(last: Last | None, width: int) -> str:
    """`last: Mend the lease test, 2 h ago (agent -c)`, of which the title gives way first."""
    if last is None:
        return ""
    if not last.title:
        return "no earlier session here"
    age = last.age if last.age == "now" else f"{last.age} ago"
    for tail in (f", {age} ({GOES_ON})", f" ({GOES_ON})", ""):
        room = width - len("last: ") - len(tail)
        if room >= min(LEAST, cells.width(last.title)) or not tail:
            return f"last: {cells.fit(one_line(last.title), room)}{tail}"
    return ""


def _told(files: Sequence[str]) -> str:
    """`AGENTS.md, CLAUDE.md and 2 more`"""
    if not files:
        return NONE
    named = ", ".join(map(one_line, files[:NAMED]))
    return f"{named} and {len(files) - NAMED} more" if len(files) > NAMED else named


def _tries(width: int, last: Last | None) -> list[Line]:
    """Two things to begin with, below each other."""
    tries = (ASK, FIRST if last is not None and not last.title else RESUME)
    size = max(cells.width(text) for text, _ in tries)
    rows: list[Line] = []
    for text, does in tries:
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
