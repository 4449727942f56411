"""What stays on the normal screen after leaving: the end of the talk and how to go on with it."""

from __future__ import annotations

from collections.abc import Sequence

from gatewright.tui.line import flow
from gatewright.tui.sanitize import visible
from gatewright.tui.transcript.items import Item, Prose, Said

ROWS = 12
WIDTH = 100


def farewell(items: Sequence[Item], session_id: str) -> str:
    """Plain text: the last exchange, shortened, and the command that resumes the session."""
    said = next((i.text for i in reversed(items) if isinstance(i, Said) and i.id), "")
    prose = next((i.text for i in reversed(items) if isinstance(i, Prose)), "")
    if not prose:
        return ""
    lines: list[str] = []
    if said:
        lines += [f"> {row.plain}" for row in flow(visible(said), WIDTH - 2)[:2]]
        lines.append("")
    rows = [row.plain for row in flow(visible(prose), WIDTH)]
    if len(rows) > ROWS:
        rows = ["…", *rows[1 - ROWS :]]
    lines += [*rows, "", f"Go on with: agent --resume {session_id}", ""]
    return "\n".join(lines)
