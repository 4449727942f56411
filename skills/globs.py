"""Which files the `paths` of an instruction file or a skill are about.

The patterns may be anybody's, so nothing here takes longer than the product of their lengths.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path

PARTS = 32
ALTERNATIVES = 64
LONGEST = 300
GLOBS = 50
_CHOICE = r"\{([^{}]*)\}"


def about(globs: tuple[str, ...], path: Path) -> bool:
    """As in a .gitignore: `*.py` at any depth, `/a` and `a/b` from the top, `!` takes back."""
    found = False
    for glob in globs[:GLOBS]:
        plain = glob.removeprefix("!")
        if not plain or len(plain) > LONGEST:
            continue
        anchored = "/" in plain.rstrip("/")
        if fits((plain if anchored else f"**/{plain}",), path):
            found = plain == glob
    return found


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
