"""Where paths really are: of many that lie in few directories, each directory is resolved once."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator


def reals(paths: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """The real path of each that there is, and whether it is a link itself."""
    above: dict[str, str] = {}
    for path in paths:
        try:
            link = stat.S_ISLNK(os.lstat(path).st_mode)
        except OSError:
            continue
        yield os.path.realpath(path) if link else _beside(path, above), link


def _beside(path: str, above: dict[str, str]) -> str:
    directory, name = os.path.split(path)
    if name in ("", ".", ".."):
        return os.path.realpath(path)
    if directory not in above:
        above[directory] = os.path.realpath(directory)
    return os.path.join(above[directory], name)
