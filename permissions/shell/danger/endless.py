"""Functions that start themselves without end, recognised in the raw text."""

from __future__ import annotations

import re

# Bounded everywhere: a line of ten thousand characters must not cost more than milliseconds.
_FORK_BOMB = re.compile(r"([^\s(){};|&]{1,40})\(\)\{[^}]{0,200}\1\|[^}]{0,200}\1[^}]{0,200}&")


_FUNCTION = re.compile(
    r"(?:function\s+([\w:.-]{1,40})\s{0,9}(?:\(\s*\))?|([\w:.-]{1,40})\s{0,9}\(\s*\))"
    r"\s{0,9}[{(]([^{}]{0,400})[})]"
)


def endless(text: str) -> bool:
    """A function that starts itself more than once."""
    if "{" not in text and "function" not in text:
        return False
    return _FORK_BOMB.search(re.sub(r"\s+", "", text)) is not None or _self_calling(text)


def _self_calling(text: str) -> bool:
    for found in _FUNCTION.finditer(text):
        name, body = found.group(1) or found.group(2), found.group(3)
        calls = len(re.findall(rf"(?<![\w.-]){re.escape(name)}(?![\w.-])", body))
        if calls >= 2 and ("&" in body or "|" in body):
            return True
    return False
