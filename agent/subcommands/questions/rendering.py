"""What reaches the terminal for a text in a place of the screen, by the screen's own code."""

from __future__ import annotations

import json
from typing import Annotated, Any, cast

import msgspec

from gatewright.tui.display import WIDTH, display

Width = Annotated[int, msgspec.Meta(ge=20, le=1000)]


class _Question(msgspec.Struct, frozen=True):
    where: str
    chunks: tuple[str, ...] | str = ""
    id: Any = None
    width: Width = WIDTH
    theme: str = "dark"


def render_line(line: bytes) -> bytes:
    """One question as JSON to one answer as JSON; one that cannot be answered says why."""
    id: Any = None
    try:
        given = _object(line)
        id = given.get("id")
        asked = msgspec.convert(given, type=_Question)
        chunks = (asked.chunks,) if isinstance(asked.chunks, str) else asked.chunks
        output = display(asked.where, chunks, width=asked.width, theme=asked.theme)
    except (ValueError, RecursionError) as error:  # also what msgspec raises
        return _encoded({"id": id, "error": str(error)})
    return _encoded({"id": id, "output": output})


def _object(line: bytes) -> dict[str, Any]:
    """The question; half a pair of surrogates is text here, as models may send it."""
    try:
        return msgspec.json.decode(line, type=dict[str, Any])
    except (msgspec.MsgspecError, UnicodeDecodeError):
        found: object = json.loads(line.decode("utf-8", "surrogateescape"), strict=False)
    if not isinstance(found, dict):
        raise ValueError("A question is a JSON object: id, where, chunks.")
    return cast("dict[str, Any]", found)


def _encoded(answer: dict[str, Any]) -> bytes:
    try:
        return msgspec.json.encode(answer)
    except UnicodeEncodeError:
        return json.dumps(answer).encode()
