"""How agents look in the strip below the transcript: one row each, in columns, pure."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import NamedTuple

from gatewright.agent.record.events_of_agents import ASKS
from gatewright.agent.text.money import dollars
from gatewright.tui import cells
from gatewright.tui.agents.known import AgentRow
from gatewright.tui.line import Line, Span, clip, line
from gatewright.tui.sanitize import one_line
from gatewright.tui.transcript.figures import count

SHOWN = 3  # rows while nobody is in the strip, if there are more than that
ENTERED = 8  # while somebody is
MARKS = {
    "running": ("◇", "accent"),
    "waiting": ("◌", "dim"),
    "done": ("✓", "good"),
    "failed": ("✗", "error"),
    "interrupted": ("✗", "warning"),
    "stopped": ("■", "dim"),
    "budget spent": ("■", "warning"),
}
ASKED = ("?", "warning")
LABEL = 16
TASK = 34
DEEP = 3  # levels that are told apart by their indent
MIDDLE, NARROW = 72, 50  # cells below which tokens, then dollars are left out
GAP = "  "


class Figures(NamedTuple):
    """The numbers of a row, at the right end."""

    elapsed: str
    tokens: str
    cost: str


class Standing(NamedTuple):
    """How an agent stands now; `asks`: it waits for the person."""

    figures: Figures
    doing: str
    asks: bool


def strip_rows(
    rows: Sequence[AgentRow],
    asking: Collection[str],
    now: float,
    width: int,
    *,
    at: int | None = None,
    room: int = ENTERED,
) -> list[Line]:
    """The first of them and a row about the others; all around `at`, where somebody is.

    Without room it is one row about all of them.
    """
    first = 0
    if at is None:
        shown = rows[: min(room, SHOWN)] if len(rows) > min(room, SHOWN) else rows
    else:
        first = max(0, min(at - room // 2, len(rows) - room))
        shown = rows[first : first + room]
    figures = [_figures(row, now, asks=row.path in asking) for row in shown]
    columns = zip(*figures, strict=True)
    widths = [max(cells.width(text) for text in column) for column in columns]
    made: list[Line] = []
    for n, (row, facts) in enumerate(zip(shown, figures, strict=True)):
        asks = row.path in asking
        standing = Standing(facts, _doing(row, now, asks=asks), asks)
        made.append(_row(row, standing, widths, width, here=_here(at, first + n)))
    if len(shown) < len(rows):
        hidden = len(rows) - len(shown)
        made.append(_more(f"{hidden} more" if shown else f"{hidden} agents", rows, asking, width))
    return made


def _here(at: int | None, number: int) -> bool | None:
    return None if at is None else at == number


def _figures(row: AgentRow, now: float, *, asks: bool) -> Figures:
    """Of one that only waits no time is told, as nothing moves then."""
    return Figures(
        clock(row.seconds(now)) if asks or row.state != "waiting" else "",
        count(row.tokens) if row.tokens else "",
        spent(row.cost),
    )


def spent(cost: float) -> str:
    """Nothing where nothing was."""
    return dollars(cost) if cost else ""


def clock(seconds: float) -> str:
    """A duration that is read at a glance: 12s, 3m05, 2h10."""
    whole = int(seconds)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02d}"
    return f"{whole // 3600}h{whole // 60 % 60:02d}"


def _row(
    row: AgentRow,
    standing: Standing,
    widths: Sequence[int],
    width: int,
    *,
    here: bool | None,
) -> Line:
    figures, doing, asks = standing
    prefix = "selected." if here else ""
    mark, role = ASKED if asks else MARKS[row.state]
    left = "" if here is None else "▸ " if here else "  "
    deep = "  " * min(row.depth, DEEP)
    kept = 3 if width >= MIDDLE else 2 if width >= NARROW else 1
    columns = [0, 1, 2][:kept] if kept != 2 else [0, 2]
    tail = "".join(f"{GAP}{figures[n]:>{widths[n]}}" for n in columns if widths[n])
    room = max(0, width - cells.width(left + deep + tail) - 2)
    label = cells.fit(one_line(row.label), min(LABEL, max(4, room)))
    room -= cells.width(label)
    doing = one_line(doing)
    spare = room - 4 - cells.width(doing)  # what it is at needs no more
    task = cells.fit(one_line(row.task), max(0, min(TASK, room - 2, max(12, room // 2, spare))))
    room -= cells.width(task) + 2 * bool(task)
    doing = _fit(doing, max(0, room - 2))
    if cells.width(doing) < 4:
        doing = ""
    blank = " " * max(0, room - cells.width(doing) - 2 * bool(doing))
    spans = (
        Span(left, f"{prefix}accent"),
        Span(deep),
        Span(f"{mark} ", f"{prefix}{role}"),
        Span(label, "selected" if here else "text"),
        Span(GAP + task if task else "", f"{prefix}dim"),
        Span(GAP + doing if doing else "", f"{prefix}warning" if asks else f"{prefix}faint"),
        Span(blank, "selected" if here else "text"),
        Span(tail, f"{prefix}dim"),
    )
    made = clip(line(*(span for span in spans if span.text)), width)
    return made._replace(fill="selected") if here else made


def _fit(doing: str, room: int) -> str:
    """A file keeps its name; whatever else is cut where it ends, as it is read from its start."""
    one_word = " " not in doing.partition(" ")[2]
    return cells.fit_middle(doing, room) if one_word else cells.fit(doing, room)


def _doing(row: AgentRow, now: float, *, asks: bool) -> str:
    if asks:
        return (
            f"waits for you: {row.doing.removeprefix(ASKS).strip()}"
            if row.asks
            else "waits for you"
        )
    if row.lives:
        left = math.ceil(row.until - now)
        doing = row.doing or ("waits" if row.state == "waiting" else "")
        return f"{doing} {left} s" if left > 0 else doing
    return f"{row.state}: {row.doing}" if row.doing else row.state


def _more(first: str, rows: Sequence[AgentRow], asking: Collection[str], width: int) -> Line:
    """`16 more · 2 wait for you · $1.84 in all`: how many are not seen, and what all come to."""
    waits = sum(row.path in asking for row in rows)
    parts = [first]
    if waits:
        parts.append(f"{waits} {'waits' if waits == 1 else 'wait'} for you")
    if cost := spent(sum(row.cost for row in rows)):
        parts.append(f"{cost} in all")
    spans = [Span("  "), Span(parts[0], "faint")]
    for part in parts[1:]:
        spans += [Span(" · ", "faint"), Span(part, "warning" if "wait" in part else "faint")]
    return clip(line(*spans), width)
