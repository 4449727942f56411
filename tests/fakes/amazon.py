"""Amazon's event stream: events of the Messages API in frames of bytes with two checksums."""

from __future__ import annotations

import base64
import json
import struct
import zlib

from tests.fakes.scripted_provider import Line

ADDRESS = "/invoke-with-response-stream"
MEDIA_TYPE = "application/vnd.amazon.eventstream"
_HEADERS = {":event-type": "chunk", ":content-type": "application/json", ":message-type": "event"}
_TEXT = 7  # the type of a header's value


def framed(item: bytes | Line) -> bytes:
    """One server-sent event as a frame; lines that only misbehave have none here."""
    if isinstance(item, Line):
        return b""
    data = item.partition(b"data: ")[2].strip()
    return _frame(json.dumps({"bytes": base64.b64encode(data).decode()}).encode())


def _frame(payload: bytes) -> bytes:
    headers = b"".join(_header(name, value) for name, value in _HEADERS.items())
    lengths = struct.pack("!II", len(headers) + len(payload) + 16, len(headers))
    whole = lengths + struct.pack("!I", zlib.crc32(lengths)) + headers + payload
    return whole + struct.pack("!I", zlib.crc32(whole))


def _header(name: str, value: str) -> bytes:
    parts = (bytes([len(name)]), name.encode(), bytes([_TEXT]), struct.pack("!H", len(value)))
    return b"".join((*parts, value.encode()))
