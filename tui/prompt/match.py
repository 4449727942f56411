"""Fuzzy matching for menus: letters in order, the best start and the tightest fit first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

T = TypeVar("T")
_BOUNDARY = frozenset("/_-. :")


def score(query: str, text: str) -> int | None:
    """How well a lower-case query fits; None when its letters are not there in order."""
    if not query:
        return 0
    low = text.lower()
    if low.startswith(query):
        return 1000 - len(text)
    at = low.find(query)
    if at >= 0:
        edge = 200 if text[at - 1] in _BOUNDARY else 0
        return 600 + edge - at - len(text) // 8
    points, position = 0, -1
    for letter in query:
        found = low.find(letter, position + 1)
        if found < 0:
            return None
        near = found == position + 1
        points += 12 if near else 6 if not found or text[found - 1] in _BOUNDARY else 0
        points -= min(found - position - 1, 8)
        position = found
    return points


def best(
    query: str, choices: Iterable[T], name: Callable[[T], Sequence[str]], limit: int = 50
) -> list[T]:
    """The choices whose names fit, best first; equal ones keep their order."""
    wanted = query.lower()
    scored: list[tuple[int, int, T]] = []
    for order, choice in enumerate(choices):
        points = [p for p in (score(wanted, text) for text in name(choice)) if p is not None]
        if points:
            scored.append((-max(points), order, choice))
    scored.sort(key=lambda entry: entry[:2])
    return [choice for _points, _order, choice in scored[:limit]]
