"""What stays on the normal screen after leaving: the end of the talk and how to go on with it."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gatewright.tui.line import flow
from gatewright.tui.sanitize import visible
from gatewright.tui.transcript.items import Item, Prose, Said, Shown

if TYPE_CHECKING:
    from gatewright.agent.client.port import SessionClient  # the screen is there before the core

ROWS = 12
WIDTH = 100


def goodbye(items: Sequence[Item], session: SessionClient) -> str:
    """All that stays of it."""
    said = farewell(items, session.id, columns(), stays=session.stays)
    return said + unsaved(session.unsaved)


def farewell(
    items: Sequence[Item], session_id: str, columns: int = WIDTH, *, stays: str = ""
) -> str:
    """Plain text: the last exchange, shortened, and the command that resumes the session.

    One that `stays` goes on, and that is always said.
    """
    width = max(20, min(WIDTH, columns))
    said, prose = last_exchange(items)
    if not prose:
        return _goes_on(stays) if stays else ""
    lines: list[str] = []
    if said:
        lines += [f"> {row.plain}" for row in flow(visible(said), width - 2)[:2]]
        lines.append("")
    rows = [row.plain for row in flow(visible(prose), width)]
    if len(rows) > ROWS:
        rows = ["…", *rows[1 - ROWS :]]
    back = _goes_on(stays) if stays else f"Go on with: agent --resume {session_id}\n"
    lines += [*rows, "", back]
    return "\n".join(lines)


def _goes_on(stays: str) -> str:
    return f"It goes on. Come back with: agent attach {stays}   End it with: agent stop {stays}\n"


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
