"""A key that stands twice in one object: a reader keeps the last, and the first is lost."""

from __future__ import annotations

import re
from typing import Any, cast

import msgspec


def repeats(data: bytes, value: Any) -> bool:
    """Whether an object in the JSON holds a key twice; `value` is what was read of it.

    Counting is enough for most files: as many colons as members, and those inside of texts.
    """
    if b"\\u" not in data and data.count(b":") == _colons(value):
        return False
    return repeated(data.decode("utf-8", "replace")) is not None


def repeated(text: str) -> tuple[str, int] | None:
    """The first such key of a valid JSON text, with the 1-based line where it stands again."""
    seen: list[set[str]] = []
    for token in re.finditer(r'("(?:[^"\\]|\\.)*")(\s*:)?|[{}]', text):
        if token[0] == "{":
            seen.append(set())
        elif token[0] == "}":
            seen.pop()
        elif token[2]:
            name = msgspec.json.decode(token[1], type=str)
            if name in seen[-1]:
                return name, text.count("\n", 0, token.start()) + 1
            seen[-1].add(name)
    return None


def _colons(value: Any) -> int:
    """Those that the text of a value needs, without recursion."""
    found, level = 0, [value]
    while level:
        inner: list[Any] = []
        for each in level:
            if isinstance(each, str):
                found += each.count(":")
            elif isinstance(each, dict):
                table = cast("dict[str, Any]", each)
                found += len(table)
                inner += table.keys()
                inner += table.values()
            elif isinstance(each, list):
                items: list[Any] = each  # pyright: ignore[reportUnknownVariableType]
                inner += items
        level = inner
    return found
