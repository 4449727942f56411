"""Foreign JSON whose shape nobody promised: what is not there reads as empty."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias, cast

Json: TypeAlias = Mapping[str, Any]


def obj(value: object) -> dict[str, Any]:
    """The object, or an empty one."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def items(value: object) -> list[object]:
    """The list, or an empty one."""
    return cast("list[object]", value) if isinstance(value, list) else []
