"""From ripgrep's NUL-separated output to lines for the model, in a fixed order."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from gatewright.tools.access import Where
from gatewright.tools.inert import visible
from gatewright.tools.protocol import ToolContext, everything

_SEPARATOR = b"--"


class Slice(msgspec.Struct, frozen=True):
    """The rows wanted: `count` of them from row `start` on; count 0 is all."""

    start: int
    count: int


class Rows(msgspec.Struct, frozen=True):
    """The rows of a slice, and how many there are in all."""

    shown: list[str]
    total: int


def content(output: bytes, wanted: Slice, sight: Sight) -> Rows:
    """`path:12:match` and `path-11-context` lines as ripgrep prints them sorted by path."""
    groups = _grouped(output)
    end = wanted.start + wanted.count if wanted.count else len(output)
    shown: list[str] = []
    total = 0
    separated = any(_SEPARATOR in lines for lines in groups.values())
    for name in sorted(groups, key=_components):
        if not (label := sight.label(name)):
            continue
        lines = groups[name]
        if separated and total:
            lines = [_SEPARATOR, *lines]
        part = lines[max(0, wanted.start - total) : max(0, end - total)]
        shown += [_row(label, line, numbers=sight.numbers) for line in part]
        total += len(lines)
    return Rows(shown, total)


def _grouped(output: bytes) -> dict[bytes, list[bytes]]:
    """Lines by file; ripgrep prints a file's lines together, in any order of files."""
    groups: dict[bytes, list[bytes]] = {}
    current: list[bytes] = []
    separator = False
    last = b""
    for line in output.split(b"\n")[:-1]:
        name, nul, rest = line.partition(b"\0")
        if not nul:
            separator = separator or line == _SEPARATOR
            continue
        if name != last:
            current, last, separator = groups.setdefault(name, []), name, False
        elif separator:
            current.append(_SEPARATOR)
            separator = False
        current.append(rest)
    return groups


def _row(label: str, rest: bytes, *, numbers: bool) -> str:
    if rest is _SEPARATOR:
        return "--"
    text = rest.decode(errors="replace").removesuffix("\r")
    digits = len(text) - len(text.lstrip("0123456789"))
    mark = text[digits : digits + 1] or ":"
    body = text if numbers else text[digits + 1 :]
    return f"{label}{mark}{visible(body)}"


def listing(output: bytes, wanted: Slice, sight: Sight, *, counts: bool) -> Rows:
    """Files with their counts by path, or files alone with the newest first."""
    if counts:
        pairs = dict(line.split(b"\0", 1) for line in output.split(b"\n")[:-1])
        names = sorted(pairs, key=_components)
    else:
        pairs = {}
        names = newest_first(sight.root, output.split(b"\0")[:-1])
    if not sight.sees_all:
        names = [name for name in names if sight.shows(name)]
    end = wanted.start + wanted.count if wanted.count else len(names)
    shown = [
        f"{sight.label(name)}:{pairs[name].decode()}" if counts else sight.label(name)
        for name in names[wanted.start : end]
    ]
    return Rows(shown, len(names))


def newest_first(root: Path, names: Sequence[bytes]) -> list[bytes]:
    """The names by modification time; equal times in the order of their paths."""
    base = os.fsencode(root) + b"/"
    stat = os.stat
    ranked: list[tuple[int, bytes]] = []
    for name in names:
        try:
            ranked.append((-stat(base + name).st_mtime_ns, name))
        except OSError:  # gone since the search
            ranked.append((0, name))
    ranked.sort()
    return [name for _, name in ranked]


def _components(name: bytes) -> bytes:
    """Sorts like the list of the path's components: nothing in a name is below NUL."""
    return name.replace(b"/", b"\0")


def brief(path: str, where: Where) -> str:
    """The path from the current directory if it is below, else absolute; made inert."""
    return visible(path.removeprefix(f"{where.cwd}/"))


class Sight:
    """What the model is told of a path, and whether it may know of it at all."""

    def __init__(self, root: Path, ctx: ToolContext, *, numbers: bool = True) -> None:
        self.root = root
        self.numbers = numbers
        self._where = ctx.where
        self._readable = ctx.readable
        leads = (f"{root}/", f"{os.path.realpath(root)}/")  # rules are about either spelling
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
