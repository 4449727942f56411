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
        self._made = [*self._made[:same], *(make(item) for item in items[same:])]
        self._items = items
        return list(self._made)


def unchanged(old: Sequence[A], new: Sequence[A]) -> int:
    """How many items both begin with."""
    same = list(map(is_, old, new))  # not a step of ours for each
    try:
        return same.index(False)
    except ValueError:
        return len(same)
