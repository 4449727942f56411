"""The word `ultracode` in what somebody typed: where it stands as a word of theirs.

Not in code, in a path, an address or a name, and not in what was pasted, which is no part of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gatewright.tools.system.patterns import later

WORD = "ultracode"

_WORD = later(rf"(?<![\w./\\@:#$=~+-]){WORD}(?![\w/\\@=~+-]|[.:#]\w)", re.IGNORECASE)
_CODE = later(
    r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1|\Z)|(`+)(?!`).+?(?<!`)\2(?!`)", re.DOTALL | re.MULTILINE
)


def spans(text: str) -> Iterator[tuple[int, int]]:
    """Where it stands: start and end."""
    if WORD not in text.lower():
        return
    code = [match.span() for match in _CODE.finditer(text)]
    for match in _WORD.finditer(text):
        if not any(start <= match.start() < end for start, end in code):
            yield match.span()


def meant(text: str) -> bool:
    """Whether somebody asks for a workflow by it."""
    return next(spans(text), None) is not None


def without(text: str) -> str:
    """The same text in which it asks for nothing."""
    for start, end in reversed(list(spans(text))):
        text = text[:start] + text[end:]
    return text
