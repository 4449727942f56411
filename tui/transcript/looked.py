"""Calls that only read and searched, in one row; what failed of them has rows of its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gatewright.tui.line import Line, Span, clip, line
from gatewright.tui.sanitize import one_line
from gatewright.tui.transcript.items import ToolRun
from gatewright.tui.transcript.tool import collapsed, head

FAILED = 3  # rows for those that failed
# What was done, and what is being done or waits for a yes.
_DID = {"file": ("read", "reading", "file"), "pattern": ("searched", "searching", "pattern")}


def rows(runs: Sequence[ToolRun], width: int) -> list[Line]:
    """`● Read 4 files, searched 2 patterns  a.py, b.py, ...`"""
    good = [run for run in runs if run.state not in ("failed", "refused")]
    failed = [run for run in runs if run.state in ("failed", "refused")]
    made = [clip(_together(good), width)] if len(good) > 1 else []
    for run in (*(good if len(good) == 1 else ()), *failed[:FAILED]):
        made += collapsed(run, width)
    if more := failed[FAILED:]:
        made += head(more[-1], width) if len(more) == 1 else [_and_more(len(more))]
    return made


def _together(runs: Sequence[ToolRun]) -> Line:
    """The newest names last: the row grows at its end only."""
    told: list[str] = []
    names: list[str] = []
    for kind, (did, does, noun) in _DID.items():
        over = _names(run for run in runs if run.looks == kind and run.state != "running")
        on = _names(run for run in runs if run.looks == kind and run.state == "running")
        for word, found in ((did, over), (does, on)):
            if found:
                told.append(f"{word} {len(found)} {noun}{'' if len(found) == 1 else 's'}")
        names += _names(run for run in runs if run.looks == kind)
    text = ", ".join(told)
    mark = "accent" if any(run.state == "running" for run in runs) else "good"
    return line(
        Span("● ", mark),
        Span(text[:1].upper() + text[1:], "text:b"),
        Span("  "),
        Span(", ".join(names), "dim"),
        gutter=2,
    )


def _names(runs: Iterable[ToolRun]) -> list[str]:
    return list(dict.fromkeys(one_line(run.target) for run in runs))


def _and_more(count: int) -> Line:
    return line(Span("● ", "error"), Span(f"{count} more failed", "dim"), gutter=2)
