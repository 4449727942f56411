"""A tool call: one line that says everything, a few rows of what came of it, more on request."""

from __future__ import annotations

from gatewright.tools.blocks import Block, Code, Command, Diff, Markdown, Output, Text, Todo
from gatewright.tui import cells
from gatewright.tui.blocks.diff import first_lines
from gatewright.tui.blocks.registry import draw, draw_all
from gatewright.tui.line import Line, Span, clip, flow, indent, line
from gatewright.tui.sanitize import one_line, stripped
from gatewright.tui.transcript.figures import seconds
from gatewright.tui.transcript.items import ToolRun

INDENT = 4
ROWS = 6  # rows of a collapsed body
DIFF_ROWS = 30
_MARK = {"running": "accent", "ok": "good", "failed": "error", "refused": "dim", "stopped": "dim"}
_KEY = "ctrl+o"
MOVE = "ctrl+b to background"
WIDE = 60  # columns from which that is said
FELT = 1000  # milliseconds; less is no news


def has_body(item: ToolRun) -> bool:
    """Whether the collapsed form has rows below its head."""
    if item.looks and item.state == "ok":
        return False
    if item.state == "running":
        return bool(item.tail.strip())  # what it would do is shown where it is asked
    return any(_says(block, item) for block in item.view) or (
        item.state == "failed" and bool(item.text)
    )


def _says(block: Block, item: ToolRun) -> bool:
    """Whether a block adds anything to the head."""
    match block:
        case Command() | Todo():  # the steps stand above the prompt
            return False
        case Output(text=text) | Text(text=text) | Markdown(text=text) | Code(text=text):
            return text.strip() not in ("", item.summary)
        case _:
            return True


def head(item: ToolRun, width: int) -> list[Line]:
    """`● Bash  pytest -q  exit 1 · 1.2 s`, never more than one row."""
    outcome = _outcome(item)
    hint = MOVE if item.movable and item.state == "running" and width >= WIDE else ""
    verb = one_line(item.verb or item.name)
    after = sum(cells.width(text) + 2 for text in (outcome, hint) if text)
    room = width - 2 - cells.width(verb) - 2 - after
    target = cells.fit_middle(one_line(item.target), max(room, 12))
    role = "error" if item.state == "failed" else "dim"
    spans = [Span("● ", _MARK[item.state]), Span(verb, "text:b")]
    if target:
        spans += [Span("  "), Span(target)]
    if outcome:
        spans += [Span("  "), Span(outcome, role)]
    if hint:
        spans += [Span("  "), Span(hint, "faint")]
    return [clip(line(*spans, gutter=2), width)]


def _outcome(item: ToolRun) -> str:
    if item.state == "running":
        # Without output there is no news: a number would stand still.
        return f"{item.seconds:.0f} s" if item.seconds >= 1 and item.tail else ""
    if item.state == "stopped":
        return "stopped"
    parts = [one_line(item.summary)] if item.summary else []
    if item.state == "failed" and not parts:
        parts.append("failed")
    if item.ms >= FELT:
        parts.append(seconds(item.ms))
    return " · ".join(parts)


def collapsed(item: ToolRun, width: int) -> list[Line]:
    """The head and at most a few rows of the body."""
    rows = head(item, width)
    if not has_body(item):
        return rows
    inner = max(8, width - INDENT)
    body: list[Line] = []
    for block in _blocks(item):
        body += _short(block, inner, max(1, ROWS - len(body)))
        if len(body) >= ROWS and not isinstance(block, Diff):
            break
    return rows + indent(body, " " * INDENT)


def _blocks(item: ToolRun) -> tuple[Block, ...]:
    if item.state == "running":
        return (Output(item.tail),)
    shown = tuple(block for block in item.view if _says(block, item))
    return shown or (Text(item.text, "error"),)


def _short(block: Block, width: int, limit: int) -> list[Line]:
    match block:
        case Diff():
            begun, lines = first_lines(block, DIFF_ROWS + 1)
            return _first(draw(begun, width), DIFF_ROWS, lines)
        case Output(text=text):
            return _last(block, text, width, limit)
        case Text(text=text, tone=tone) if len(text) > 4000:
            return _first(draw_all((Text(text[:4000], tone),), width), limit, text.count("\n"))
        case _:
            return _first(draw(block, width), limit)


def _first(rows: list[Line], limit: int, total: int = 0) -> list[Line]:
    if len(rows) <= limit:
        return rows
    more = max(total, len(rows)) - limit + 1
    return [*rows[: limit - 1], _more(more)]


def _last(block: Output, text: str, width: int, limit: int) -> list[Line]:
    """The end of an output: that is where results and errors stand."""
    text = text.rstrip()
    lines = text.count("\n") + 1
    if lines <= limit and len(text) < width * limit:
        return draw(Output(text, None, block.hidden_lines), width)[:limit]
    rows: list[Line] = []
    shown = 0
    end = stripped("\n".join(text[-8000:].split("\n")[-limit:]))
    for raw in reversed(end.split("\n")):
        if len(rows) >= limit - 1:
            break
        rows = [*flow(raw, width, "dim", hard=True), *rows]
        shown += 1
    hidden = lines - shown + block.hidden_lines - bool(block.hidden_lines)
    return [_more(max(1, hidden), "lines above"), *rows[-(limit - 1) :]]


def _more(number: int, word: str = "more lines") -> Line:
    return line(Span(f"… {number:,} {word}", "faint"), Span(f"  {_KEY}", "faint"))
