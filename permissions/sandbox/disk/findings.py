"""One look at the disk: where it goes, and what it finds."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterable, Iterator

import msgspec


class Sight(msgspec.Struct, frozen=True):
    """One look at the disk. `guarded` holds every protected name found, links included."""

    guarded: frozenset[str]
    repositories: frozenset[str]  # paths called .git
    bare: frozenset[str]  # directories that are repositories without being called .git
    denied: tuple[str, ...]
    complete: bool
    shut: frozenset[str] = frozenset()  # directories that could not be looked into
    linked: tuple[tuple[str, str], ...] = ()  # `.git` files and the directories they name
    home: str = ""
    hooks: tuple[str, ...] = ()  # directories that git takes them from in every work tree
    covered: tuple[str, ...] = ()  # not looked through, because there are too many
    hopeless: bool = False  # so many that nothing can be covered


class Bounds(msgspec.Struct, frozen=True):
    """Look only in these places, only until then; after a run through no link.

    `flat`: only at what lies in them. What was shut since then is opened again.
    """

    places: tuple[str, ...]
    deadline: float = math.inf  # of the monotonic clock
    follow: bool = False
    flat: bool = False
    since: float = math.inf
    skip: frozenset[str] = frozenset()  # covered in all runs that this is about

    def late(self) -> bool:
        return time.monotonic() > self.deadline

    def in_time(self, entries: Iterable[os.DirEntry[str]]) -> Iterator[os.DirEntry[str]]:
        for entry in entries:
            if self.late():
                raise TimeoutError
            yield entry
