"""Where lines go, and one JSON object as one line."""

from __future__ import annotations

from typing import Any, Protocol

import msgspec


class Sink(Protocol):
    def write(self, text: str, /) -> object: ...


def encode(value: Any) -> str:
    try:
        return msgspec.json.encode(value).decode("utf-8") + "\n"
    except UnicodeEncodeError:  # a lone surrogate: only the escaping encoder can write it
        import json  # noqa: PLC0415  lazy: 3 ms

        return json.dumps(value) + "\n"
