"""Text that every encoder takes.

File names, command lines and JSON can hold halves of characters, which no UTF-8 has a place for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

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


def _mended(text: str) -> str:
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    known = _halves().sub("\N{REPLACEMENT CHARACTER}", joined)
    # What is left are bytes of a file name or an argument that is no text.
    return known.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


@cache
def _halves() -> re.Pattern[str]:
    return re.compile("[\ud800-\udc7f\udd00-\udfff]")
