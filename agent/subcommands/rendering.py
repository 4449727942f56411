"""What reaches the terminal for a text in a place of the screen, by the screen's own code."""

from __future__ import annotations

import msgspec

from gatewright.tui.display import display


class _Question(msgspec.Struct, frozen=True):
    where: str
    chunks: tuple[str, ...]
    id: str | int | None = None


def render_line(line: bytes) -> bytes:
    """One question as JSON to one answer as JSON; one that cannot be answered says why."""
    try:
        asked = msgspec.json.decode(line, type=_Question)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        return msgspec.json.encode({"id": None, "error": str(error)})
    try:
        output = display(asked.where, asked.chunks)
    except ValueError as error:
        return msgspec.json.encode({"id": asked.id, "error": str(error)})
    return msgspec.json.encode({"id": asked.id, "output": output})
