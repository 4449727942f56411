"""On which line of a JSON text a key stands. Used only to report a mistake, so speed is no aim."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TypeAlias

Path: TypeAlias = tuple[str | int, ...]

_SPACE = " \t\r\n"


def line_of(text: str, key: Path) -> int:
    """The 1-based line of the key (of the item, in a list), or of the nearest that is written."""
    return nearest(lines_of(text, len(key)), key)


def nearest(lines: Mapping[Path, int], key: Path) -> int:
    """Of the key, or else of what it would stand in; 0 where nothing of it is written."""
    while key and key not in lines:
        key = key[:-1]
    return lines.get(key, 0)


def lines_of(text: str, depth: int) -> dict[Path, int]:
    """The lines of all keys and items down to a depth; of two equal keys the last one counts."""
    found: dict[Path, int] = {}
    _Walk(text, depth, found).value(_skip(text, 0), ())
    return found


class _Walk:
    def __init__(self, text: str, depth: int, found: dict[Path, int]) -> None:
        self._text, self._depth, self._found = text, depth, found
        self._at, self._line = 0, 1  # how far the lines are counted

    def value(self, at: int, path: Path) -> int:
        """Where the value at `at` ends."""
        text = self._text
        if len(path) >= self._depth or text[at] not in "{[":
            return _end(text, at)
        named, close = text[at] == "{", "}" if text[at] == "{" else "]"
        at, index = _skip(text, at + 1), 0
        while text[at] != close:
            key: str | int = index
            start = at
            if named:
                key, after = json.JSONDecoder().raw_decode(text, at)
                at = _skip(text, _skip(text, after) + 1)
            self._note((*path, key), start)
            at = _next(text, self.value(at, (*path, key)))
            index += 1
        return at + 1

    def _note(self, path: Path, at: int) -> None:
        self._line += self._text.count("\n", self._at, at)
        self._at = at
        self._found[path] = self._line


def _end(text: str, at: int) -> int:
    return json.JSONDecoder().raw_decode(text, at)[1]


def _next(text: str, at: int) -> int:
    at = _skip(text, at)
    return _skip(text, at + 1) if text[at] == "," else at


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at
