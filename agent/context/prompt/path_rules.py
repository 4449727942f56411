"""Instructions for some files alone: the `paths` of a front matter, and which files they are about.

The patterns may be anybody's, so nothing here takes longer than the product of their lengths.
"""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from gatewright.skills.globs import fits

GLOBS = 20
LONGEST = 300
# Compiled at their first use: most projects have no such files.
_FRONT = r"(?sm)---[ \t]*\r?\n(.*?)^---[ \t]*\r?(?:\n|\Z)"
_ITEM = r"\s*-\s+(.*)"
_QUOTED = r"""\s*(?:"([^"]*)"|'([^']*)')\s*(?:#.*)?"""


class PathRule(msgspec.Struct, frozen=True):
    """A file that is read once a file is touched that fits one of its globs below `base`."""

    path: Path
    globs: tuple[str, ...]
    base: Path
    kind: str

    def about(self, touched: Path) -> bool:
        return touched.is_relative_to(self.base) and fits(
            self.globs, touched.relative_to(self.base)
        )


def front_matter(text: str) -> tuple[tuple[str, ...], str]:
    """The globs below `paths`, and the text without its front matter."""
    found = re.match(_FRONT, text)
    if found is None:
        return (), text
    lines = found[1].splitlines()
    start = next((n for n, line in enumerate(lines) if line.startswith("paths:")), None)
    globs = [] if start is None else _listed(lines[start].partition(":")[2], lines[start + 1 :])
    kept = [glob for glob in globs if 0 < len(glob) <= LONGEST]
    return tuple(kept[:GLOBS]), text[found.end() :]


def _listed(value: str, following: list[str]) -> list[str]:
    """One glob, several with commas between them, a list in brackets, or one below the key."""
    value = value.strip()
    if value and not value.startswith("#"):
        if value.startswith("["):
            value = value[1:].partition("#")[0].strip().removesuffix("]")
        elif quoted := re.fullmatch(_QUOTED, value):
            value = quoted[1] or quoted[2] or ""
        return [_bare(part) for part in _parts(value)]
    found: list[str] = []
    for line in following:
        item = re.fullmatch(_ITEM, line)
        if item is None and line.strip() and not line.lstrip().startswith("#"):
            break
        if item is not None:
            found.append(_bare(item[1]))
    return found


def _parts(text: str) -> list[str]:
    """Split at commas, but for those within braces."""
    parts, depth, start = list[str](), 0, 0
    for index, char in enumerate(text):
        depth += (char == "{") - (char == "}")
        if char == "," and depth <= 0:
            parts.append(text[start:index])
            start = index + 1
    return [*parts, text[start:]]


def _bare(text: str) -> str:
    quoted = re.fullmatch(_QUOTED, text)
    return (quoted[1] or quoted[2] or "") if quoted else text.partition(" #")[0].strip()
