"""What was sent while a turn runs and waits for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gatewright.tui import cells
from gatewright.tui.line import Line, Span, clip, line
from gatewright.tui.sanitize import one_line

SHOWN = 3


def queue_rows(texts: Sequence[str], width: int, *, behind_agents: bool = False) -> list[Line]:
    """`behind_agents`: they wait until these are done, or go on without the turn."""
    shown = [
        line(Span("↳ ", "faint"), Span(cells.fit(one_line(text), width - 2), "dim"))
        for text in texts[:SHOWN]
    ]
    if len(texts) > SHOWN:
        shown.append(line(Span(f"  and {len(texts) - SHOWN} more waiting", "faint")))
    if texts and behind_agents:
        told = "  waits for the agents; ctrl+b sends them to the background"
        shown.append(clip(line(Span(told, "faint")), width))
    return shown


class Queued(NamedTuple):
    texts: tuple[str, ...] = ()
    behind_agents: bool = False


def queued_rows(queued: Queued, width: int) -> list[Line]:
    return queue_rows(queued.texts, width, behind_agents=queued.behind_agents)
