"""From ripgrep's NUL-separated output to lines for the model, in a fixed order."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from gatewright.tools.access import Where
from gatewright.tools.inert import visible
from gatewright.tools.protocol import ToolContext

_SEPARATOR = b"--"


def content(output: bytes, root: Path, ctx: ToolContext, *, numbers: bool) -> list[str]:
    """`path:12:match` and `path-11-context` lines as ripgrep prints them sorted by path."""
    groups = _grouped(output)
    labels = _Labels(root, ctx)
    rows: list[str] = []
    separated = any(_SEPARATOR in lines for lines in groups.values())
    for name in sorted(groups, key=_components):
        if not (label := labels.of(name)):
            continue
        if separated and rows:
            rows.append("--")
        rows += [_row(label, line, numbers=numbers) for line in groups[name]]
    return rows


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


def listing(output: bytes, root: Path, ctx: ToolContext, *, counts: bool) -> list[str]:
    """Files with their counts by path, or files alone with the newest first."""
    labels = _Labels(root, ctx)
    if counts:
        pairs = [line.partition(b"\0") for line in output.split(b"\n")[:-1]]
        pairs.sort(key=lambda pair: _components(pair[0]))
        return [f"{label}:{n.decode()}" for name, _, n in pairs if (label := labels.of(name))]
    names = newest_first(root, output.split(b"\0")[:-1])
    return [label for name in names if (label := labels.of(name))]


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


def _components(name: bytes) -> list[bytes]:
    return name.split(b"/")


def brief(path: str, where: Where) -> str:
    """The path from the current directory if it is below, else absolute; made inert."""
    return visible(path.removeprefix(f"{where.cwd}/"))


class _Labels:
    """What the model is told of a path; empty for a file it may not read."""

    def __init__(self, root: Path, ctx: ToolContext) -> None:
        self._root = str(root)
        self._ctx = ctx

    def of(self, name: bytes) -> str:
        path = f"{self._root}/{os.fsdecode(name.removeprefix(b'./'))}"
        return brief(path, self._ctx.where) if self._ctx.readable(Path(path)) else ""
