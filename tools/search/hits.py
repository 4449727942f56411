"""From what a search found to lines for the model, in a fixed order."""

from __future__ import annotations

import os
from collections.abc import Mapping

import msgspec

from gatewright.tools.access import Where
from gatewright.tools.inert import visible
from gatewright.tools.protocol import ToolContext
from gatewright.tools.search.ground import Ground
from gatewright.tools.search.query import SEPARATOR, Found, Lines
from gatewright.tools.services import everything


class Slice(msgspec.Struct, frozen=True):
    """The rows wanted: `count` of them from row `start` on; count 0 is all."""

    start: int
    count: int


class Rows(msgspec.Struct, frozen=True):
    """The rows of a slice, and how many there are in all."""

    shown: list[str]
    total: int


def content(found: Lines, wanted: Slice, sight: Sight) -> Rows:
    """`path:12:match` and `path-11-context` lines, sorted by path."""
    end = wanted.start + wanted.count if wanted.count else sum(map(len, found.values())) * 2 + 1
    shown: list[str] = []
    total = 0
    separated = any(SEPARATOR in lines for lines in found.values())
    for name in sorted(found, key=_components):
        if not (label := sight.label(name)):
            continue
        lines = found[name]
        if separated and total:
            lines = [SEPARATOR, *lines]
        part = lines[max(0, wanted.start - total) : max(0, end - total)]
        shown += [_row(label, line, numbers=sight.numbers) for line in part]
        total += len(lines)
    return Rows(shown, total)


def _row(label: str, rest: bytes, *, numbers: bool) -> str:
    if rest is SEPARATOR:
        return "--"
    text = rest.decode(errors="replace").removesuffix("\r")
    digits = len(text) - len(text.lstrip("0123456789"))
    mark = text[digits : digits + 1] or ":"
    body = text if numbers else text[digits + 1 :]
    return f"{label}{mark}{visible(body)}"


def listing(found: Found, wanted: Slice, sight: Sight, *, counts: bool) -> Rows:
    """Files with their counts by path, or files alone with the newest first."""
    names = sorted(found.lines, key=_components) if counts else newest_first(found.times)
    if not sight.sees_all:
        names = [name for name in names if sight.shows(name)]
    end = wanted.start + wanted.count if wanted.count else len(names)
    shown = [
        f"{sight.label(name)}:{found.lines[name][0].decode()}" if counts else sight.label(name)
        for name in names[wanted.start : end]
    ]
    return Rows(shown, len(names))


def newest_first(times: Mapping[bytes, int]) -> list[bytes]:
    """The names by modification time; equal times in the order of their paths."""
    return [name for _, name in sorted((-at, name) for name, at in times.items())]


def _components(name: bytes) -> bytes:
    """Sorts like the list of the path's components: nothing in a name is below NUL."""
    return name.replace(b"/", b"\0")


def brief(path: str, where: Where) -> str:
    """The path from the current directory if it is below, else absolute; made inert."""
    return visible(path.removeprefix(f"{where.cwd}/"))


class Sight:
    """What the model is told of a path, and whether it may know of it at all."""

    def __init__(self, ground: Ground, ctx: ToolContext, *, numbers: bool = True) -> None:
        self.root = ground.root
        self.numbers = numbers
        self._where = ctx.where
        self._readable = ctx.readable
        leads = (f"{ground.root}/", f"{ground.real_root}/")  # rules are about either spelling
        self._leads = tuple(dict.fromkeys(lead.replace("//", "/") for lead in leads))

    @property
    def sees_all(self) -> bool:
        return self._readable is everything

    def shows(self, name: bytes) -> bool:
        """Whether the model may know of the file."""
        rest = os.fsdecode(name.removeprefix(b"./"))
        return all(self._readable(lead + rest) for lead in self._leads)

    def label(self, name: bytes) -> str:
        """The path from the current directory; empty for a file it may not read."""
        if not (self.sees_all or self.shows(name)):
            return ""
        return brief(f"{self.root}/{os.fsdecode(name.removeprefix(b'./'))}", self._where)
