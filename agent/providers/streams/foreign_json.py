"""Reading JSON that others wrote: a field of the wrong type reads as if it were not there."""

from __future__ import annotations

import re
from typing import Any, cast

import msgspec

from gatewright.agent.settings.layers.depth import DEEPEST, nested_deeply
from gatewright.agent.text.well_formed import well_formed_json
from gatewright.tools.protocol import JsonObject

MOST = 10**12  # of what is counted: also the sum of a session fits into 64 bits
_ENCODE = msgspec.json.Encoder().encode
_DECODE = msgspec.json.Decoder().decode


class Unreadable(ValueError):
    """No JSON, or nested deeper than anybody who reads it later can follow."""


def decoded(data: bytes | str, *, cut: bool = False) -> Any:
    """What a server's JSON holds, well-formed. Raises Unreadable.

    Halves of characters stay where the JSON is a piece of something `cut` anywhere.
    """
    halves = False
    try:
        value = _DECODE(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        value = _with_halves(data, error)
        halves = True
    brackets = _count(data)
    if brackets > DEEPEST and nested_deeply(value):
        raise Unreadable("nested too deeply")
    return well_formed_json(value) if halves and not cut else value


def encoded(value: object) -> str:
    """The JSON of what was decoded, well-formed also where that was cut."""
    return _ENCODE(well_formed_json(value)).decode("utf-8")


def _with_halves(data: bytes | str, error: Exception) -> Any:
    """JSON may hold halves of characters, and only one decoder takes them. Raises Unreadable."""
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    if re.search(rb"\\u[dD][89a-fA-F]|\xed[\xa0-\xbf]", raw) is None:
        raise Unreadable(str(error) or "nested too deeply") from error
    import json  # noqa: PLC0415  lazy: 3 ms, for what hardly any server sends

    try:
        return json.loads(raw.decode("utf-8", "surrogatepass"), parse_constant=_no_constant)
    except (ValueError, RecursionError) as worse:
        raise Unreadable(str(worse) or "nested too deeply") from worse


def _no_constant(name: str) -> Any:
    raise Unreadable(f"{name} is no JSON")


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
    """A token count: never negative, and no more than can be stored, whatever a server says."""
    return min(max(0, value), MOST) if isinstance(value, int) else 0
