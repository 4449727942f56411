"""The body of a request as JSON, at the cost of what is new since the one before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import msgspec

from gatewright.agent.providers.sending.kept_prefix import unchanged
from gatewright.tools.protocol import JsonObject

HISTORY = ("messages", "input")  # where an API has the conversation
FEW = 20  # messages below which nothing is worth keeping


class Encoded:
    """Items of the history are compared by identity: who makes them changes none afterwards."""

    def __init__(self) -> None:
        self._items: Sequence[object] = ()
        self._prefix = bytearray()  # of the first so many of them, each with its comma
        self._count = 0

    def encode(self, body: JsonObject) -> bytes:
        for name in HISTORY:
            items = body.get(name)
            if isinstance(items, list) and len(many := cast("list[object]", items)) > FEW:
                return self._around(body, name, many)
        return msgspec.json.encode(body)

    def _around(self, body: JsonObject, name: str, items: list[object]) -> bytes:
        """All pieces are put together once: a long history is megabytes."""
        at = list(body).index(name)
        before = msgspec.json.encode(dict(list(body.items())[:at]))[:-1]
        after = msgspec.json.encode(dict(list(body.items())[at + 1 :]))[1:]
        key = msgspec.json.encode(name) + b":["
        comma = b"," if len(before) > 1 else b""
        end = b"]" if after == b"}" else b"],"
        return b"".join((before, comma, key, *self._history(items), end, after))

    def _history(self, items: list[object]) -> tuple[bytes | bytearray, bytes]:
        """Its items without the brackets around them."""
        same = unchanged(self._items, items)
        self._items = items
        if same < self._count:
            self._prefix, self._count = bytearray(), 0
        for item in items[self._count : same]:
            self._prefix += msgspec.json.encode(item) + b","
        self._count = same
        if same < len(items):
            return self._prefix, msgspec.json.encode(items[same:])[1:-1]
        return self._prefix[:-1], b""
