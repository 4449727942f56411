"""What stays on the normal screen after leaving: the end of the talk and how to go on with it."""

from __future__ import annotations

import shutil
from collections.abc import Sequence

from gatewright.tui.line import flow
from gatewright.tui.sanitize import visible
from gatewright.tui.transcript.items import Item, Prose, Said, Shown

ROWS = 12
WIDTH = 100


def farewell(items: Sequence[Item], session_id: str, columns: int = WIDTH) -> str:
    """Plain text: the last exchange, shortened, and the command that resumes the session."""
    width = max(20, min(WIDTH, columns))
    said, prose = last_exchange(items)
    if not prose:
        return ""
    lines: list[str] = []
    if said:
        lines += [f"> {row.plain}" for row in flow(visible(said), width - 2)[:2]]
        lines.append("")
    rows = [row.plain for row in flow(visible(prose), width)]
    if len(rows) > ROWS:
        rows = ["…", *rows[1 - ROWS :]]
    lines += [*rows, "", f"Go on with: agent --resume {session_id}", ""]
    return "\n".join(lines)


def columns() -> int:
    """Those of the normal screen."""
    return shutil.get_terminal_size((WIDTH, ROWS)).columns


def unsaved(told: str) -> str:
    """What the disk did not take of the session, as a last line."""
    return f"{visible(told)}\n" if told else ""


def last_exchange(items: Sequence[Item]) -> tuple[str, str]:
    """The last answer and what it answers: the message before it, not a command of the screen."""
    at = next((n for n in reversed(range(len(items))) if isinstance(items[n], Prose)), -1)
    if at < 0:
        return "", ""
    prose = items[at]
    for number in reversed(range(at)):
        said = items[number]
        if isinstance(said, Said) and not isinstance(items[number + 1], Shown):
            return said.text, prose.text if isinstance(prose, Prose) else ""
    return "", prose.text if isinstance(prose, Prose) else ""
