"""Which files servers want to hear of: those of their own kinds, and what they registered for.

A pattern counts by the last of its names: more is told than was asked for, and never less.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fnmatch import translate
from functools import lru_cache

import msgspec

from gatewright.agent.lsp.running.definitions import Definition

NAMES, LONG, PATTERNS = 64, 300, 200  # of one pattern; its characters; of one server
_CHOICE = re.compile(r"\{([^{}]*)\}")


class Wanted(msgspec.Struct, frozen=True):
    """By one server, as it was when this was made."""

    root: str
    definition: Definition
    patterns: tuple[str, ...] = ()

    def wants(self, path: str) -> bool:
        if not path.startswith(f"{self.root.rstrip('/')}/"):
            return False
        if self.definition.language(path):
            return True
        name = path.rpartition("/")[2]
        return bool(self.patterns) and _compiled(self.patterns).match(name) is not None


def anybody(wanted: Iterable[Wanted], path: str) -> bool:
    return any(each.wants(path) for each in wanted)


def names_of(pattern: str) -> Sequence[str]:
    """The globs of names that it may end with; any name where it says too much."""
    if len(pattern) > LONG:
        return ("*",)
    open_, done = [pattern], set[str]()
    while open_:
        text = open_.pop()
        if (choice := _CHOICE.search(text)) is not None:
            before, after = text[: choice.start()], text[choice.end() :]
            open_ += [f"{before}{each}{after}" for each in choice[1].split(",")]
        else:
            done.add(text.rpartition("/")[2] or "*")
        if len(open_) + len(done) > NAMES:
            return ("*",)
    return sorted(done)


@lru_cache(maxsize=64)
def _compiled(patterns: tuple[str, ...]) -> re.Pattern[str]:
    names = {name for each in patterns[:PATTERNS] for name in names_of(each)}
    return re.compile("|".join(translate(name) for name in sorted(names)))
