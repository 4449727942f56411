"""Files that say what a search leaves out, where they are none: what has no end is never opened.

ripgrep opens whatever has such a name, and waits on a FIFO or reads a device for as long as it may.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterable
from pathlib import Path

from gatewright.tools.system.regular import kind_of

_NAMES = (".gitignore", ".ignore", ".rgignore")
_EXCLUDE = ".git/info/exclude"
_ALL = (*_NAMES, _EXCLUDE)
_SECONDS = 2.0


def endless(directory: Path) -> str:
    """What is wrong with one that counts in this directory: those in it and above it; or ''."""
    return _first(f"{here}/{n}" for here in (directory, *directory.parents) for n in _ALL)


def endless_below(directory: Path) -> str:
    """The same of one anywhere below, so far as can be looked through in two seconds."""
    deadline = time.monotonic() + _SECONDS
    for here, below, files in os.walk(directory):
        there = [name for name in _NAMES if name in files]
        there += [_EXCLUDE] if ".git" in below else []
        if found := _first(f"{here}/{name}" for name in there):
            return found
        below[:] = [name for name in below if name != ".git"]
        if time.monotonic() > deadline:
            break
    return ""


def _first(paths: Iterable[str]) -> str:
    for path in paths:
        try:
            info = Path(path).stat()
        except (OSError, ValueError):
            continue
        mode = info.st_mode
        if stat.S_ISCHR(mode) and info.st_rdev == Path(os.devnull).stat().st_rdev:
            continue
        if stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
            return f"{path} is {kind_of(mode)}, so no ignore file was heeded"
    return ""
