"""Text that every encoder takes.

File names, command lines and JSON can hold halves of characters, which no UTF-8 has a place for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any, cast

from gatewright.tools.protocol import Content, TextContent


def well_formed(text: str) -> str:
    """The same text; two halves become their character, and what is none is written out."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return _mended(text)
    return text


def formed(content: Sequence[Content]) -> tuple[Content, ...]:
    """The same parts, their texts well-formed."""
    return tuple(
        TextContent(well_formed(part.text)) if isinstance(part, TextContent) else part
        for part in content
    )


def well_formed_json(value: Any) -> Any:
    """The same JSON, its names and texts well-formed."""
    match value:
        case str():
            return well_formed(value)
        case dict():
            items = cast("dict[str, Any]", value).items()
            return {well_formed_json(key): well_formed_json(item) for key, item in items}
        case list() | tuple():
            return [well_formed_json(item) for item in cast("list[Any]", value)]
        case _:
            return value


class Seam:
    """Text that comes in pieces: a character cut in two is given out with its second half."""

    def __init__(self) -> None:
        self._half = ""

    def add(self, text: str) -> str:
        text = self._half + text
        self._half = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
        return well_formed(text[:-1] if self._half else text)


def _mended(text: str) -> str:
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    known = _halves().sub("\N{REPLACEMENT CHARACTER}", joined)
    # What is left are bytes of a file name or an argument that is no text.
    return known.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


@cache
def _halves() -> re.Pattern[str]:
    return re.compile("[\ud800-\udc7f\udd00-\udfff]")
