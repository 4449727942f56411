"""Reading JSON that others wrote: a field of the wrong type reads as if it were not there."""

from __future__ import annotations

from typing import Any, cast

from gatewright.tools.protocol import JsonObject


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
