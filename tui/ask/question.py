"""How a question looks: what is at stake first, why, then the ways to answer.

The options always fit; a long body scrolls above them, and in little space the air goes first.
"""

from __future__ import annotations

from dataclasses import dataclass

from gatewright.tools.blocks import Command, Diff
from gatewright.tools.interact import Ask, Option
from gatewright.tui import cells
from gatewright.tui.ask.exact import exact
from gatewright.tui.blocks.diff import draw_split, summary
from gatewright.tui.blocks.registry import draw
from gatewright.tui.line import BLANK, Line, Span, clip, flow, indent, line
from gatewright.tui.sanitize import one_line, visible
from gatewright.tui.state import MAIN, Pending

PAD = 2
TELL = "t"


@dataclass(frozen=True)
class Marks:
    """Where the person is: option under the cursor, options marked, first row of the body."""

    at: int = 0
    picked: frozenset[str] = frozenset()
    scroll: int = 0


def draw_question(
    pending: Pending, marks: Marks, width: int, room: int, count: int = 1
) -> tuple[list[Line], int]:
    """The rows, and the scroll position as far as the body allows it."""
    ask = pending.ask
    inner = width - PAD
    body = _body(ask, inner)
    reason = flow(visible(ask.reason, strict=True), inner, "dim") if ask.reason else []
    options = _options(ask, marks, inner)
    left = room - 1 - len(options)
    airy = left >= len(reason) + 3 + min(len(body), 3)
    gap = [BLANK] if airy else []
    if not airy:
        reason = [clip(row, inner) for row in reason[:1]] if left >= 3 else []
    left -= len(reason) + len(gap) * (3 if reason else 2)
    shown, scroll = _window(body, max(1, left), marks.scroll)
    parts = [part for part in (shown, reason, options) if part]
    rows = [_title(pending, inner, count), *(row for part in parts for row in (*gap, *part))]
    bar = Span("▎ ", "warning" if ask.kind in ("permission", "trust") else "accent")
    return indent(rows, bar, bar), scroll


def _title(pending: Pending, width: int, count: int) -> Line:
    ask = pending.ask
    who = "" if pending.agent == MAIN else f"{one_line(pending.agent)} asks · "
    more = f"  1 of {count}" if count > 1 else ""
    text = ask.title
    if any(isinstance(block, Command) for block in ask.body) and ask.kind == "permission":
        text = "Run this command?"  # which one stands below, whole
    counts = _counts(ask)
    taken = cells.width(who + more) + sum(cells.width(span.text) for span in counts)
    title = cells.fit(one_line(text, strict=True), width - taken)
    gap = " " * max(0, width - taken - cells.width(title))
    spans = (Span(who, "dim"), Span(title, "text:b"), *counts, Span(gap), Span(more, "dim"))
    return Line(tuple(span for span in spans if span.text))


def _counts(ask: Ask) -> tuple[Span, ...]:
    """Added and removed lines, beside the title that names the only changed file."""
    diffs = [block for block in ask.body if isinstance(block, Diff)]
    return summary(diffs[0])[1:] if len(diffs) == 1 else ()


def _body(ask: Ask, width: int) -> list[Line]:
    rows: list[Line] = []
    named = bool(_counts(ask))
    for block in map(exact, ask.body):
        if rows:
            rows.append(BLANK)
        if isinstance(block, Diff):
            rows += [] if named else [Line(summary(block))]
            rows += draw_split(block, width)
        else:
            rows += draw(block, width)
    return rows


def _window(body: list[Line], limit: int, scroll: int) -> tuple[list[Line], int]:
    """The part of a long body that is scrolled to, and how much is hidden."""
    if len(body) <= limit:
        return body, 0
    room = max(1, limit - 1)
    scroll = min(scroll, len(body) - room)
    shown = body[scroll : scroll + room]
    below = len(body) - scroll - room
    where = f"{below} more rows below" if below else f"{scroll} rows above"
    more = line(Span(f"… {where}  page up, page down", "faint"))
    return ([*shown, more] if limit > 1 else shown), scroll


def _options(ask: Ask, marks: Marks, width: int) -> list[Line]:
    options = list(ask.options)
    if ask.free_text:
        permission = ask.kind == "permission"
        label = "Tell the agent what to do instead" if permission else "Something else"
        options.append(Option("", label, TELL))
    rows: list[Line] = []
    for number, option in enumerate(options):
        rows += _option(ask, option, marks, width, here=number == marks.at)
    return rows


def _option(ask: Ask, option: Option, marks: Marks, width: int, *, here: bool) -> list[Line]:
    head = [
        Span("▸ " if here else "  ", "accent"),
        Span(cells.pad(option.key, 3), "accent" if here else "dim"),
    ]
    if ask.multiple and option.id:
        head.append(Span("[x] " if option.id in marks.picked else "[ ] ", "dim"))
    size = sum(cells.width(span.text) for span in head)
    room = max(8, width - size)
    label = flow(visible(option.label, strict=True), room, "text:b" if here else "text")
    rows = [Line((*head, *label[0].spans)), *indent(label[1:], " " * size)]
    if option.help and ask.kind != "permission":
        rows += indent(flow(visible(option.help), room, "dim"), " " * size)
    return rows
