"""Instructions for some files alone: the `paths` of a front matter, and which files they are about.

The patterns may be anybody's, so nothing here takes longer than the product of their lengths.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path

import msgspec

GLOBS = 20
LONGEST = 300
PARTS = 32
ALTERNATIVES = 64
# Compiled at their first use: most projects have no such files.
_FRONT = r"(?sm)---[ \t]*\r?\n(.*?)^---[ \t]*\r?(?:\n|\Z)"
_ITEM = r"\s*-\s+(.*)"
_CHOICE = r"\{([^{}]*)\}"
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


def fits(globs: tuple[str, ...], path: Path) -> bool:
    """Whether a path, relative to where the globs start, fits one; what is below fits, too."""
    alternatives = (glob for each in globs for glob in _alternatives(each))
    return any(_meet(_steps(glob), path.parts) for glob in islice(alternatives, ALTERNATIVES))


def _steps(glob: str) -> list[str]:
    steps = glob.removeprefix("./").strip("/").split("/")
    once = [step for n, step in enumerate(steps) if step != "**" or steps[n - 1 : n] != ["**"]]
    return once[:PARTS]


def _alternatives(glob: str) -> list[str]:
    """The globs that choices in braces stand for; one with too many is taken as it is written."""
    done, open_ = list[str](), [glob]
    while open_:
        each = open_.pop()
        if (choice := re.search(_CHOICE, each)) is None:
            done.append(each)
            continue
        before, after = each[: choice.start()], each[choice.end() :]
        open_ += [f"{before}{word}{after}" for word in choice[1].split(",")]
        if len(open_) + len(done) > ALTERNATIVES:
            return [glob]
    return done


def _meet(pattern: list[str], parts: tuple[str, ...]) -> bool:
    """Where in the pattern one may be after each part of the path."""
    states = _skipped({0}, pattern)
    for part in parts:
        if not states or len(pattern) in states:
            break
        following = {
            state if pattern[state] == "**" else state + 1
            for state in states
            if pattern[state] == "**" or fnmatchcase(part, pattern[state])
        }
        states = _skipped(following, pattern)
    return len(pattern) in states


def _skipped(states: set[int], pattern: list[str]) -> set[int]:
    """`**` may stand for nothing; two of them never follow each other."""
    return states | {n + 1 for n in states if n < len(pattern) and pattern[n] == "**"}
