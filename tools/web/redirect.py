"""Whether a redirect would be followed, one JSON line for each: the same code WebFetch uses."""

from __future__ import annotations

import msgspec

from gatewright.tools.web.address import parse, redirect

MAX_HOPS = 10


class _Question(msgspec.Struct, frozen=True):
    to: str
    source: str = msgspec.field(name="from")
    id: str | int | None = None
    hop: int = 1


def follows(source: str, to: str, hop: int) -> bool:
    """Whether hop number `hop`, from 1, from one URL to the other is followed."""
    try:
        start = parse(source)
    except ValueError:
        return False
    return hop <= MAX_HOPS and redirect(start, to) is not None


def decide_line(line: bytes) -> bytes:
    """One question as JSON to one answer as JSON; a line that cannot be read is a stop."""
    try:
        asked = msgspec.json.decode(line, type=_Question)
    except msgspec.MsgspecError as error:
        return msgspec.json.encode({"id": _id(line), "decision": "stop", "error": str(error)})
    decision = "follow" if follows(asked.source, asked.to, asked.hop) else "stop"
    return msgspec.json.encode({"id": asked.id, "decision": decision})


def _id(line: bytes) -> object:
    """The id of a question that is otherwise wrong, so that its answer can be matched."""
    try:
        return msgspec.json.decode(line, type=dict[str, object]).get("id")
    except msgspec.MsgspecError:
        return None
