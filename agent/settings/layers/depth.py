"""How deep JSON may be nested: far beyond any setting, far below what an interpreter can follow."""

from __future__ import annotations

from typing import Any, cast

DEEPEST = 100


def nested_deeply(value: Any) -> bool:
    """Found without recursion: some of those who read it later have less room for it."""
    level = [value]
    for _ in range(DEEPEST):
        level = [item for each in level for item in _inside(each)]
        if not level:
            return False
    return True


def _inside(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(cast("dict[str, Any]", value).values())
    return cast("list[object]", value) if isinstance(value, list) else []
