"""What is really mounted in a sandbox that was made some time ago, as the kernel tells it.

Asked before a command is handed to it: whatever was moved, replaced or mounted between the making
and the use makes another sandbox than the one that was judged.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from gatewright.permissions.paths import inside
from gatewright.permissions.sandbox.linux.inside import FREE
from gatewright.permissions.sandbox.linux.mount_check import (
    TABLE,
    Mount,
    mounts,
    origins,
    table_of,
)

File: TypeAlias = tuple[int, int]
_BINDS = {"--ro-bind": False, "--ro-bind-try": False, "--bind": True, "--bind-try": True}


class _Asked(msgspec.Struct, frozen=True):
    """One mount as the options say it; `source` is empty for what is made anew."""

    source: str
    writes: bool
    must: bool = True


class Mounted(msgspec.Struct, frozen=True):
    """A sandbox that is as it was asked for: by the tables of both sides, and by the files."""

    init: int
    around: bytes
    within: bytes
    files: Mapping[str, File]

    def holds(self) -> bool:
        """Whether all of that is so now."""
        try:
            if table_of(TABLE) != self.around or _within(self.init) != self.within:
                return False
            return all(_file(path) == known for path, known in self.files.items())
        except OSError:
            return False


def mounted(options: Iterable[str], init: int, fixed: frozenset[str]) -> Mounted | None:
    """What these options of the launcher made of the sandbox with this first process.

    None where it is anything else. `fixed` are places of the system that may be links.
    """
    asked = _asked(options)
    try:
        around, within = table_of(TABLE), _within(init)
        if not _as_asked(asked, mounts(around), mounts(within), fixed):
            return None
        files: dict[str, File] = {}
        for point, each in asked.items():
            if each.source and each.must:
                files[each.source] = file = _file(each.source)
                if _file(f"/proc/{init}/root{point}") != file:
                    return None
    except OSError:
        return None
    return Mounted(init, around, within, files)


def _asked(options: Iterable[str]) -> dict[str, _Asked]:
    """By mount point, later ones win as they do there. Paths begin with a slash, options never."""
    found: dict[str, _Asked] = {}
    words = iter(options)
    for word in words:
        if word in _BINDS:
            source = next(words)
            found[next(words)] = _Asked(source, _BINDS[word], must=not word.endswith("-try"))
        elif word == "--tmpfs":
            found[next(words)] = _Asked("", writes=True)
        elif word == "--remount-ro":
            point = next(words)
            found[point] = replace(found[point], writes=False)
    return found


def _as_asked(
    asked: Mapping[str, _Asked],
    around: Sequence[Mount],
    within: Sequence[Mount],
    fixed: frozenset[str],
) -> bool:
    """Every mount is what it must be, and nothing else can be written."""
    found = {each.point: each for each in within}
    real = {each.source: each.source for each in asked.values() if each.source}
    real |= {path: os.path.realpath(path) for path in real.keys() & fixed}
    meant = origins(real.values(), around)
    for point, each in asked.items():
        there = found.get(point)
        if there is None:
            if each.must:
                return False
        elif each.source:
            if f"{there.device} {there.root}" != meant[real[each.source]]:
                return False
        elif there.kind != "tmpfs" or there.root != "/":
            return False
    opened = [point for point, each in asked.items() if each.writes and each.source]
    return not any(
        each.writes and not _may_write(point, asked.get(point), opened)
        for point, each in found.items()
    )


def _may_write(point: str, asked: _Asked | None, opened: list[str]) -> bool:
    if asked is not None:
        return asked.writes
    free = any(inside(point, place) for place in FREE)
    return free and not any(inside(point, place) for place in opened)


def _within(init: int) -> bytes:
    return table_of(f"/proc/{init}/mountinfo")


def _file(path: str) -> File:
    status = os.lstat(path)
    return status.st_dev, status.st_ino
