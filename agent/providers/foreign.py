"""Reading JSON that others wrote: a field of the wrong type reads as if it were not there."""

from __future__ import annotations

from typing import Any, cast

import msgspec

from gatewright.agent.settings.depth import DEEPEST, nested_deeply
from gatewright.tools.protocol import JsonObject

_DECODE = msgspec.json.Decoder().decode


class Unreadable(ValueError):
    """No JSON, or nested deeper than anybody who reads it later can follow."""


def decoded(data: bytes | str) -> Any:
    """What a server's JSON holds. Raises Unreadable."""
    try:
        value = _DECODE(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise Unreadable(str(error) or "nested too deeply") from error
    brackets = _count(data)
    if brackets > DEEPEST and nested_deeply(value):
        raise Unreadable("nested too deeply")
    return value


def _count(data: bytes | str) -> int:
    """At least as many as it is deep."""
    if isinstance(data, str):
        return data.count("{") + data.count("[")
    return data.count(b"{") + data.count(b"[")


def table(value: object) -> JsonObject:
    return cast("JsonObject", value) if isinstance(value, dict) else {}


def rows(value: object) -> list[Any]:
    if not isinstance(value, list):
        return []
    found: list[Any] = value  # pyright: ignore[reportUnknownVariableType]
    return found


def text(value: object) -> str:
    return value if isinstance(value, str) else ""


def count(value: object) -> int:
    """A token count: never negative, whatever a server says."""
    return max(0, value) if isinstance(value, int) else 0
