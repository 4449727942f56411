"""Which directories a project's .gitignore files name: looked at when all of it is searched.

The files may be anybody's: what one may say has a limit, and nothing of it is run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from gatewright.skills.globs import fits
from gatewright.tools.system.regular import head_of

FILE = ".gitignore"
BYTES = 64 * 1024
LINES = 500
_GLOB = frozenset("*?[\\/")


class Ignores(msgspec.Struct, frozen=True):
    """The lines of one file that hold for what is below its directory, in their order."""

    folder: str
    lines: tuple[str, ...]


def ignores_in(folder: str) -> Iterator[Ignores]:
    """What its file says; nothing where there is none that can be read."""
    try:
        text = head_of(Path(folder) / FILE, BYTES).decode("utf-8", errors="replace")
    except OSError:
        return
    lines = (line.strip() for line in text.splitlines()[:LINES])
    yield Ignores(folder, tuple(line for line in lines if line and not line.startswith("#")))


def ignored(path: str, holding: Sequence[Ignores]) -> bool:
    """Whether a directory is one of them: the last line about it counts."""
    name = path.rpartition("/")[2]
    for each in reversed(holding):
        below = Path(path[len(each.folder.rstrip("/")) + 1 :])
        for line in reversed(each.lines):
            plain = line.removeprefix("!")
            if _means(plain, name, below):
                return plain == line
    return False


def _means(line: str, name: str, below: Path) -> bool:
    bare = line.rstrip("/")
    if not _GLOB.intersection(bare):  # most lines: a name alone, at any depth
        return bare == name
    return fits((line if "/" in bare else f"**/{line}",), below)
