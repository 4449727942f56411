"""On which line of a JSON text a key stands. Used only to report a mistake, so speed is no aim."""

from __future__ import annotations

import json
from typing import TypeAlias

Path: TypeAlias = tuple[str | int, ...]

_SPACE = " \t\r\n"


def line_of(text: str, key: Path) -> int:
    """The 1-based line of the key (of the item, in a list); 0 when the text does not hold it."""
    at = _find(text, _skip(text, 0), key)
    return text.count("\n", 0, at) + 1 if at >= 0 else 0


def lines_of(text: str, depth: int) -> dict[Path, int]:
    """The lines of all keys and items down to a depth, in one walk: for who asks of many."""
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


def _find(text: str, at: int, key: Path) -> int:
    """The offset of `key` inside the value at `at`; a missing last part is found as its parent."""
    if not key:
        return at
    match text[at]:
        case "{" if isinstance(key[0], str):
            return _in_object(text, at, key)
        case "[" if isinstance(key[0], int):
            return _in_list(text, at, key)
        case _:
            return -1


def _in_object(text: str, at: int, key: Path) -> int:
    start = at
    found = -1
    at = _skip(text, at + 1)
    while text[at] != "}":
        name, after = json.JSONDecoder().raw_decode(text, at)
        value = _skip(text, _skip(text, after) + 1)
        if name == key[0]:  # the last of two equal keys is the one that counts
            found = at if len(key) == 1 else _find(text, value, key[1:])
        at = _next(text, _end(text, value))
    return start if found < 0 and len(key) == 1 else found


def _in_list(text: str, at: int, key: Path) -> int:
    at = _skip(text, at + 1)
    index = 0
    while text[at] != "]":
        if index == key[0]:
            return _find(text, at, key[1:])
        at = _next(text, _end(text, at))
        index += 1
    return -1


def _end(text: str, at: int) -> int:
    return json.JSONDecoder().raw_decode(text, at)[1]


def _next(text: str, at: int) -> int:
    at = _skip(text, at)
    return _skip(text, at + 1) if text[at] == "," else at


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at
