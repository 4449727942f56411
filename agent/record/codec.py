"""One event as one JSON line: the same bytes go to the transcript and to whoever reads it.

A line of a type or with a block this version does not know is kept as it is and written back so.
"""

from __future__ import annotations

from functools import cache
from typing import Any, cast

import msgspec

from gatewright.agent.record.events import AnyEvent, Envelope, UnknownEvent
from gatewright.agent.text.well_formed import well_formed_json
from gatewright.tools.access import MAIN

VERSION = 1

_KNOWN_BLOCKS = frozenset(
    {"text", "markdown", "code", "diff", "command", "output", "table", "todo", "image", "unknown"}
)


class Header(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="session"):
    """First line of a transcript; `agent` is about the one whose it is, if that is not the main."""

    version: int
    id: str
    cwd: str
    created: float
    app: str
    forked_from: str = ""
    agent: dict[str, str] | msgspec.UnsetType = msgspec.UNSET


class _Place(msgspec.Struct, frozen=True, rename="camel"):
    uuid: str
    parent_uuid: str
    session_id: str
    timestamp: float
    seq: int = 0
    agent: str = MAIN


class Mark(msgspec.Struct, frozen=True, rename="camel"):
    """As much of a line as it takes to follow a branch."""

    uuid: str
    parent_uuid: str
    type: str = ""


class WireError(Exception):
    """A line that is no event: torn, truncated or foreign."""


_encoder = msgspec.json.Encoder()


# Who only writes a session does without them.
@cache
def _event_decoder() -> msgspec.json.Decoder[AnyEvent]:  # 6 ms
    return msgspec.json.Decoder(AnyEvent)


@cache
def _place_decoder() -> msgspec.json.Decoder[_Place]:
    return msgspec.json.Decoder(_Place)


@cache
def _mark_decoder() -> msgspec.json.Decoder[Mark]:
    return msgspec.json.Decoder(Mark)


@cache
def _header_decoder() -> msgspec.json.Decoder[Header]:
    return msgspec.json.Decoder(Header)


def encode_header(header: Header) -> bytes:
    return _encoder.encode(header) + b"\n"


def decode_header(line: bytes) -> Header:
    try:
        return _header_decoder().decode(line)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise WireError(str(error)) from error


def encode(envelope: Envelope, session: str) -> bytes:
    """The envelope as a line, newline included."""
    place = _Place(
        uuid=envelope.uuid,
        parent_uuid=envelope.parent,
        session_id=session,
        timestamp=envelope.timestamp,
        seq=envelope.seq,
        agent=envelope.agent,
    )
    event = envelope.event
    payload = event.raw if isinstance(event, UnknownEvent) else event
    try:
        body = _encoder.encode(payload)
    except UnicodeEncodeError:  # a file name that is no text, for one
        body = _encoder.encode(well_formed_json(msgspec.to_builtins(payload)))
    return b"".join((body[:-1], b",", _encoder.encode(place)[1:], b"\n"))


def decode(line: bytes) -> Envelope:
    """Raises WireError for anything that is not a complete line of ours."""
    try:
        place = _place_decoder().decode(line)
        event = _decode_event(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise WireError(str(error)) from error
    return Envelope(
        seq=place.seq,
        uuid=place.uuid,
        parent=place.parent_uuid,
        timestamp=place.timestamp,
        agent=place.agent,
        event=event,
    )


def mark(line: bytes) -> Mark:
    """Raises WireError like `decode`, at a fraction of its cost."""
    try:
        return _mark_decoder().decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise WireError(str(error)) from error


def _decode_event(line: bytes) -> AnyEvent:
    try:
        return _event_decoder().decode(line)
    except msgspec.ValidationError:
        raw: dict[str, Any] = msgspec.json.decode(line)
        places = {"uuid", "parentUuid", "sessionId", "timestamp", "seq", "agent"}
        payload = {key: value for key, value in raw.items() if key not in places}
        return _with_unknown_blocks(payload) or UnknownEvent(raw=payload)


def _with_unknown_blocks(payload: dict[str, Any]) -> AnyEvent | None:
    """Try again with blocks of unknown kinds wrapped; None when that is not what was wrong."""
    try:
        blocks = msgspec.convert(payload.get("view"), list[dict[str, Any]])
        wrapped = {**payload, "view": [_wrap(block) for block in blocks]}
        return msgspec.convert(wrapped, cast("type[AnyEvent]", AnyEvent))
    except msgspec.ValidationError:
        return None


def _wrap(block: dict[str, Any]) -> dict[str, Any]:
    if block.get("kind") in _KNOWN_BLOCKS:
        return block
    return {"kind": "unknown", "name": str(block.get("kind")), "raw": block}
