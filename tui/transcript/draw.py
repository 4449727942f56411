"""How each record looks: records in, chunks of rows out.

A chunk is the unit of measuring, drawing and caching. A long record has many, so that only what
is near the visible part is ever drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias, assert_never

from gatewright.agent.text.money import dollars
from gatewright.agent.turn.stop import Stop
from gatewright.tools.blocks import Block, Diff, Output, Text
from gatewright.tui.blocks.diff import draw_split
from gatewright.tui.blocks.markdown import PROSE, draw_piece
from gatewright.tui.blocks.pieces import Piece, pieces
from gatewright.tui.blocks.registry import draw_all, role_of
from gatewright.tui.line import BLANK, Line, Span, clip, flow, indent, line
from gatewright.tui.sanitize import one_line, stripped, visible
from gatewright.tui.transcript import agent, looked, tool
from gatewright.tui.transcript.figures import count, seconds
from gatewright.tui.transcript.items import (
    AgentBlock,
    Ending,
    Invocation,
    Item,
    Looked,
    Note,
    Prose,
    Rule,
    Said,
    Shown,
    Thought,
    ToolRun,
)

# What to tell the person when a turn did not simply complete, with a way out.
_TOLD: dict[Stop, tuple[str, str]] = {
    Stop.MAX_TURNS: (
        "Stopped at the limit of steps for one turn. Send anything to go on.",
        "warning",
    ),
    Stop.BUDGET_EXHAUSTED: ("The budget of this session is used up.", "warning"),
    Stop.ABORTED_STREAMING: ("Interrupted. Say what to do instead.", "dim"),
    Stop.ABORTED_TOOLS: ("Interrupted. Say what to do instead.", "dim"),
    Stop.USER_REFUSED: ("Not run. Say what to do instead.", "dim"),
    Stop.HOOK_STOPPED: ("A hook stopped the turn.", "warning"),
    Stop.AUTO_DENIED: ("Auto mode refused too much. Say what to do instead.", "warning"),
    Stop.TOOL_DEFERRED: ("A hook put the call off. Send anything to go on with it.", "warning"),
    Stop.TOOL_DEFERRED_UNAVAILABLE: ("The tool of the call that was put off is gone.", "error"),
    Stop.PROMPT_TOO_LONG: (
        "The conversation no longer fits the model. /clear begins anew.",
        "error",
    ),
    Stop.MODEL_ERROR: ("The model could not answer. Send the message again.", "error"),
    Stop.PROVIDER_AUTH: ("The model's service refused the key. Check it, then try again.", "error"),
    Stop.LOOP_GUARD: ("Stopped: the same call was repeated without progress.", "warning"),
    Stop.MALFORMED_TOOL_USE: ("The model sent calls that cannot be read. Try again.", "error"),
}

Draw: TypeAlias = Callable[[int], list[Line]]

MARGIN = 2  # the column of marks
SAID_ROWS = 24
SAID_FIRST, SAID_LAST = 8, 6  # rows of a longer one
STEPS = (ToolRun, Looked, Thought)  # close together where they are one row
STEP, STEP_SIZE = 100, 5000  # lines, or about letters, of an expanded output drawn at once


@dataclass(frozen=True, slots=True, eq=False)
class Chunk:
    """Draws itself for a width; `gap` blank rows stand above it unless it is empty."""

    draw: Draw
    gap: int = 0

    def rows(self, width: int) -> list[Line]:
        made = self.draw(width)
        return [BLANK] * self.gap + made if made else made


def gap_between(above: Item | None, item: Item) -> int:
    """Blank rows over a record: calls without a body stand close together."""
    if above is None:
        return 0
    if isinstance(item, STEPS) and isinstance(above, STEPS):
        return int(_has_body(above) or _has_body(item))
    if isinstance(item, Shown) and isinstance(above, Said):
        return 0
    return 1


def _has_body(item: Item) -> bool:
    match item:
        case ToolRun():
            return tool.has_body(item)
        case Looked(runs=runs):
            return any(map(tool.has_body, runs))
        case _:
            return False


def chunks_of(  # noqa: C901, PLR0911  one kind each
    item: Item, *, expanded: bool = False, whole: bool = False
) -> list[Chunk]:
    """The chunks of a record, without the gap above it; `whole`: nothing of it is left out."""
    match item:
        case Prose(text=text):
            return [piece_chunk(piece, number) for number, piece in enumerate(pieces(text))]
        case Said(text=text):
            return [Chunk(partial(_said, text, expanded))]
        case Thought():
            return [Chunk(partial(_thought, item, expanded))]
        case ToolRun():
            return _tool(item, expanded)
        case Looked(runs=runs):
            return _looked(runs, expanded=expanded, whole=whole)
        case AgentBlock():
            return [Chunk(partial(agent.rows, item, expanded))]
        case Note(text=text, tone=tone):
            return [Chunk(partial(_note, text, role_of(tone)))]
        case Shown():
            return [Chunk(partial(_shown, item))]
        case Rule():
            return _ruled(item, expanded=expanded)
        case Invocation():
            return [Chunk(partial(_invocation, item, expanded))]
        case Ending():
            return [Chunk(partial(_ending, item))]
        case _:
            assert_never(item)


def piece_chunk(piece: Piece, number: int) -> Chunk:
    """One piece of a message; a blank row above it unless it continues a fence."""
    gap = int(number > 0 and not piece.joined)
    return Chunk(partial(_piece, piece), gap)


def _margin(rows: Sequence[Line], mark: Span | str = "") -> list[Line]:
    blank = " " * MARGIN
    if not mark:
        return indent(rows, blank)
    return indent(rows, mark, blank)


def _piece(piece: Piece, width: int) -> list[Line]:
    return _margin(draw_piece(piece, width - MARGIN))


def _said(text: str, expanded: bool, width: int) -> list[Line]:
    rows = flow(visible(text), min(width - MARGIN, PROSE), "text")
    if len(rows) > SAID_ROWS and not expanded:
        more = line(Span(f"… {len(rows) - SAID_FIRST - SAID_LAST} more lines  ctrl+o", "faint"))
        rows = [*rows[:SAID_FIRST], more, *rows[-SAID_LAST:]]  # what is asked often stands last
    bar = Span("▎ ", "accent")
    return indent(rows, bar, bar)


def _thought(item: Thought, expanded: bool, width: int) -> list[Line]:
    if not item.done:
        label = "Thinking"
    else:
        label = f"Thought for {seconds(item.ms)}" if item.ms >= 1000 else "Thought"
    rows = [line(Span(label, "dim:i"))]
    if expanded and item.text:
        rows += flow(visible(item.text.strip()), min(width - MARGIN, PROSE), "dim")
    return _margin(rows, Span("✻ ", "faint"))


def _tool(item: ToolRun, expanded: bool) -> list[Chunk]:
    if not expanded:
        return [Chunk(partial(tool.collapsed, item))]
    blocks = item.view or ((Text(item.text, "dim"),) if item.text else item.before)
    if item.hooks:
        blocks = (*blocks, Text("\n".join(item.hooks), "dim"))
    parts = [part for block in blocks for part in split(block)]
    head = Chunk(partial(tool.head, item))
    return [head, *[Chunk(partial(_body, part)) for part in parts]]


def _looked(runs: Sequence[ToolRun], *, expanded: bool, whole: bool) -> list[Chunk]:
    if len(runs) == 1:
        return _tool(runs[0], expanded)
    if expanded:
        return [chunk for run in runs for chunk in _tool(run, whole)]
    return [Chunk(partial(looked.rows, runs))]


def split(block: Block) -> list[Block]:
    """Long plain text in steps, so that opening it costs only what is seen."""
    if not isinstance(block, Output | Text) or block.text.count("\n") <= STEP:
        return [block]
    tone = block.tone if isinstance(block, Text) else "dim"
    parts: list[Block] = [Text(text, tone) for text in steps(block.text)]
    if isinstance(block, Output) and block.exit:
        parts.append(Output("", block.exit))
    return parts


def steps(text: str) -> Iterator[str]:
    """Whole lines of a text, about so many letters at once: few cuts, whatever its length."""
    start, end = 0, 0
    while end >= 0:
        end = text.find("\n", start + STEP_SIZE)
        part = text[start:end] if end >= 0 else text[start:]
        start = end + 1
        if part.count("\n") <= STEP:
            yield part
        else:
            lines = part.split("\n")
            yield from ("\n".join(lines[n : n + STEP]) for n in range(0, len(lines), STEP))


def _body(block: Block, width: int) -> list[Line]:
    if isinstance(block, Text):
        output = block.tone == "dim"  # a part of it: every blank counts
        rows = flow(stripped(block.text), width - tool.INDENT, role_of(block.tone), hard=output)
    else:
        rows = draw_all((block,), width - tool.INDENT)
    return indent(rows, " " * tool.INDENT)


def _note(text: str, role: str, width: int) -> list[Line]:
    rows = flow(visible(text), min(width - MARGIN, PROSE), role)
    mark = Span("! ", role) if role in ("warning", "error") else ""
    return _margin(rows, mark)


def _shown(item: Shown, width: int) -> list[Line]:
    rows: list[Line] = []
    for block in item.blocks:
        if isinstance(block, Diff):
            rows += draw_split(block, width - MARGIN)
        else:
            rows += draw_all((block,), width - MARGIN)
    if item.title:
        rows = [line(Span(one_line(item.title), "dim")), *rows]
    return _margin(rows)


def _invocation(item: Invocation, expanded: bool, width: int) -> list[Line]:
    hint = () if expanded or not item.more else (Span("  ctrl+o", "faint"),)
    rows = [clip(line(Span(one_line(item.text), "dim"), *hint), width - MARGIN)]
    if expanded:
        rows += flow(visible(item.more.strip()), min(width - MARGIN, PROSE), "dim")
    return _margin(rows)


def _ruled(item: Rule, *, expanded: bool) -> list[Chunk]:
    """The line, and opened what it stands for."""
    hint = "  ctrl+o" if item.more.strip() and not item.first else ""
    rule = Chunk(partial(_rule, f"{item.text}{hint}"))
    if not (expanded or item.first):
        return [rule]
    return [
        rule,
        *(piece_chunk(piece, number + 1) for number, piece in enumerate(pieces(item.more))),
    ]


def _rule(text: str, width: int) -> list[Line]:
    label = one_line(text)
    rest = max(0, min(width, PROSE) - len(label) - 6)
    return [line(Span("──── ", "faint"), Span(label, "dim"), Span(" " + "─" * rest, "faint"))]


def _ending(item: Ending, width: int) -> list[Line]:
    rows: list[Line] = []
    told = explain(item.stop, item.message)
    if told is not None:
        text, role = told
        mark = Span("! ", role) if role != "dim" else Span("  ")
        rows += indent(flow(visible(text), min(width - MARGIN, PROSE), role), mark)
    facts = " · ".join(_facts(item))
    if facts:
        rows += _margin([clip(line(Span(facts, "faint")), width - MARGIN)])
    return rows


def _facts(item: Ending) -> list[str]:
    usage, cost = item.usage, item.cost
    apart = " without your answers" if item.waited >= tool.FELT else ""
    facts = [f"{seconds(item.ms)}{apart}"] if item.ms >= tool.FELT else []
    if usage.context:
        sent = usage.input + usage.cache_read + usage.cache_write
        facts.append(f"{count(sent)} in")
        if usage.cache_read:
            facts.append(f"{count(usage.cache_read)} cached")
        facts.append(f"{count(usage.output)} out")
    if cost:
        facts.append(dollars(cost))
    return facts


def explain(stop: Stop, message: str) -> tuple[str, str] | None:
    """Text and role for an ending, or None when there is nothing to say."""
    told = _TOLD.get(stop)
    if told is None:
        return (message, "dim") if message else None
    text, role = told
    return message or text, role
