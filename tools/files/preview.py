"""The part of a long text that people are shown: its head and its tail, by lines and length."""

from __future__ import annotations

from typing import NamedTuple

HEAD = 30
TAIL = 70
_LINE = 400


class Missing(NamedTuple):
    """Lines that a text lacks: so many, below the first `at` ones, where a note stands instead.

    The note is one line between two blank ones.
    """

    lines: int = 0
    at: int = 0


def preview(text: str, missing: Missing = Missing()) -> tuple[str, int]:  # noqa: B008  a value
    """At most HEAD + TAIL lines of bounded length, and how many lines are hidden between.

    Where some are, one line of the result says so; it counts as none.
    """
    if len(text) <= _LINE and not missing.lines:
        return text, 0
    lines = text.split("\n")
    above, below = lines[: HEAD + TAIL], lines[:0]
    if missing.lines:
        above, below = lines[: missing.at], lines[missing.at + 3 :]
    elif len(lines) > HEAD + TAIL:
        above, below = lines[:HEAD], lines[HEAD:]
    hidden = len(above) + len(below) + missing.lines
    if missing.lines or below:
        above, below = above[:HEAD], below[-TAIL:]
    hidden -= len(above) + len(below)
    note = [f"[... {hidden:,} lines]"] if hidden else []
    short = [[line[:_LINE] + ("..." if line[_LINE:] else "") for line in p] for p in (above, below)]
    return "\n".join([*short[0], *note, *short[1]]), hidden
