"""How many rows a list or a panel above the prompt may take: the prompt is always seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatewright.tui.ask.asking import SHORT

if TYPE_CHECKING:
    from gatewright.tui.screens.repl import Repl  # it makes what is measured here

LOW = 36  # rows of a screen in which what opens takes those of what is pinned
PADDING = 5  # rows around the prompt and around what opens
SEEN = 3  # rows of the conversation


def fit_lists(repl: Repl) -> None:
    """Give what opens the rows that nothing else needs; what a person sent is always seen."""
    height, short = repl.size.height, repl.size.height < SHORT
    others = repl.box.lines() + max(1, repl.status.taken) + repl.queue.taken
    others += 0 if short else PADDING + SEEN
    others += (1 if short else 2) if repl.view.busy else int(short)
    if height >= LOW:
        others += repl.steps.taken + repl.agents.taken
    covers = repl.sheet.high and not short and height < LOW
    repl.set_class(covers and not repl.view.busy, "covered")  # what says nothing has no row
    for rows in (repl.sheet, repl.picker):
        more = SEEN - 1 if covers and rows is repl.sheet else 0
        room = max(3, height - others + more)
        if rows.room != room:
            rows.room = room
            rows.refresh_rows()
