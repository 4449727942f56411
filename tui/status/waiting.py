"""What was sent while a turn runs and waits for it."""

from __future__ import annotations

from collections.abc import Sequence

from gatewright.tui import cells
from gatewright.tui.line import Line, Span, line
from gatewright.tui.sanitize import one_line

SHOWN = 3


def queue_rows(texts: Sequence[str], width: int) -> list[Line]:
    shown = [
        line(Span("↳ ", "faint"), Span(cells.fit(one_line(text), width - 2), "dim"))
        for text in texts[:SHOWN]
    ]
    if len(texts) > SHOWN:
        shown.append(line(Span(f"  and {len(texts) - SHOWN} more waiting", "faint")))
    return shown
