"""Keeps what was made of items that are still in place: a history grows at its end only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import is_
from typing import Generic, TypeVar

A = TypeVar("A")
B = TypeVar("B")


class Kept(Generic[A, B]):
    """Maps a sequence, item by item. Items are compared by identity; `made` must not be changed."""

    def __init__(self) -> None:
        self._items: Sequence[A] = ()
        self._made: list[B] = []

    def map(self, items: Sequence[A], make: Callable[[A], B]) -> list[B]:
        same = unchanged(self._items, items)
        if same < len(self._made):
            self._made = self._made[:same]
        self._made.extend(make(item) for item in items[same:])
        self._items = items
        return list(self._made)


def unchanged(old: Sequence[A], new: Sequence[A]) -> int:
    """How many items both begin with."""
    if all(map(is_, old, new)):  # mostly so, and not a step of ours for each
        return min(len(old), len(new))
    return list(map(is_, old, new)).index(False)
