"""Names that a missing path may have meant, for an error message."""

from __future__ import annotations

import difflib
import itertools
import os
from pathlib import Path

_ENTRIES = 2000


def missing(path: Path, cwd: Path) -> str:
    """That `path` does not exist, with the nearest names there and what exists of the way."""
    parent = path.parent
    if parent.is_dir():
        names = difflib.get_close_matches(path.name, _names(parent), n=3, cutoff=0.6)
        stem = [name for name in _names(parent) if Path(name).stem == path.stem]
        found = list(dict.fromkeys([*names, *stem]))[:4]
        hint = f" Near names there: {', '.join(found)}." if found else ""
        return f"{path} does not exist.{hint} The current directory is {cwd}."
    while not parent.is_dir():
        parent = parent.parent
    rest = path.relative_to(parent).parts
    names = difflib.get_close_matches(rest[0], _names(parent), n=3, cutoff=0.6)
    hint = f" Near names there: {', '.join(names)}." if names else ""
    return (
        f"{path} does not exist: {parent} has no {rest[0]}.{hint} The current directory is {cwd}."
    )


def _names(directory: Path) -> list[str]:
    try:
        with os.scandir(directory) as entries:
            return [entry.name for entry in itertools.islice(entries, _ENTRIES)]
    except OSError:
        return []
