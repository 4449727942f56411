"""An agent that this one started, as one record: what it is to do, what it used, what it says.

While it works its row changes; no other record moves. The report is folded away but its beginning.
"""

from __future__ import annotations

from gatewright.agent.text.money import dollars
from gatewright.tui import cells
from gatewright.tui.blocks.markdown import PROSE, draw_piece
from gatewright.tui.blocks.pieces import pieces
from gatewright.tui.line import BLANK, Line, Span, clip, flow, indent, line
from gatewright.tui.sanitize import one_line, visible
from gatewright.tui.transcript.figures import count, seconds
from gatewright.tui.transcript.items import AgentBlock

INDENT = 4
REPORT = 3  # rows of a report that is folded away
SHOWN = 4000  # characters that are looked at for them
LABEL = 24
TASK = 28  # cells of the task before which facts give way, in this order
GIVES_WAY = ("time", "tokens", "tools", "cost")
MARKS = {
    "running": ("◇", "accent"),
    "waiting": ("◇", "dim"),
    "done": ("◆", "good"),
    "failed": ("◆", "error"),
    "interrupted": ("◆", "warning"),
    "stopped": ("◆", "dim"),
    "budget spent": ("◆", "warning"),
}


def rows(item: AgentBlock, expanded: bool, width: int) -> list[Line]:
    """Its head, and below it what it is at or what it reported."""
    made = [_head(item, width)]
    inner = max(8, width - INDENT)
    if expanded:
        made += _opened(item, inner)
    elif item.report:
        made += indent(_begun(item.report, inner), " " * INDENT)
    elif item.doing:
        made += indent(
            [line(Span(cells.fit_middle(one_line(item.doing), inner), "faint"))], " " * INDENT
        )
    if item.why:
        role = "error" if item.state == "failed" else "warning"
        made += indent(flow(visible(item.why), inner, role), " " * INDENT)
    if item.place:
        kept = flow(f"Kept in {visible(item.place)}", inner, "dim")
        made += indent(kept, " " * INDENT)
    return made


def _head(item: AgentBlock, width: int) -> Line:
    """`◆ explore  Find the lease bug  done · 12 calls · 34k tokens · $0.12 · 65 s`."""
    mark, role = MARKS.get(item.state, MARKS["running"])
    label = cells.fit(one_line(item.label), LABEL)
    facts = _facts(item)
    room = width - 4 - cells.width(label)
    least = min(TASK, cells.width(one_line(item.task)))
    while len(facts) > 1 and cells.width(" · ".join(facts.values())) > room - least - 2:
        facts.pop(next(name for name in GIVES_WAY if name in facts))
    outcome = " · ".join(facts.values())
    task = cells.fit(one_line(item.task), max(room - cells.width(outcome) - 2, 8))
    told = "error" if item.state == "failed" else "dim"
    spans = [Span(f"{mark} ", role), Span(label, "text:b")]
    spans += [Span("  "), Span(task)] if task else []
    spans += [Span("  "), Span(outcome, told)]
    return clip(line(*spans, gutter=2), width)


def _facts(item: AgentBlock) -> dict[str, str]:
    facts = {"state": item.state}
    if item.tools:
        facts["tools"] = f"{item.tools} {'call' if item.tools == 1 else 'calls'}"
    if item.tokens:
        facts["tokens"] = f"{count(item.tokens)} tokens"
    if item.cost:
        facts["cost"] = dollars(item.cost)
    if item.ms:
        facts["time"] = seconds(item.ms)
    return facts


def _begun(report: str, width: int) -> list[Line]:
    """The first rows of a report, and how many lines there are besides."""
    made = [
        row for piece in pieces(report[:SHOWN]) for row in draw_piece(piece, width) if row.spans
    ]
    if len(made) <= REPORT and len(report) <= SHOWN:
        return made
    more = max(len(made), report.count("\n")) - REPORT + 1
    return [
        *made[: REPORT - 1],
        line(Span(f"… {more} more lines", "faint"), Span("  ctrl+o", "faint")),
    ]


def _opened(item: AgentBlock, width: int) -> list[Line]:
    """What it was told, whole, and its report as it was written."""
    made = indent(
        flow(visible(item.prompt.strip()), min(width - 2, PROSE), "dim"),
        Span("▎ ", "accent"),
        Span("▎ ", "accent"),
    )
    for number, piece in enumerate(pieces(item.report)):
        made += [BLANK] * int(number == 0 or not piece.joined)
        made += draw_piece(piece, width)
    return indent(made, " " * INDENT)
