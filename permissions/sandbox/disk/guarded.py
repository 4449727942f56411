"""Which names below a writable directory stay as they are, and which parts of a repository.

The names are the gate's own tiers; what differs is git: work needs most of `.git` writable, so
there only what can run programs is kept.
"""

from __future__ import annotations

import os
from fnmatch import fnmatchcase
from typing import Final

from gatewright.permissions.paths import TIER_A_NAME, TIER_B, TIER_B_HOME

GIT: Final = ".git"
_SINGLE: Final = frozenset(n for n in TIER_B if "/" not in n and "*" not in n and n != GIT)
NAMES: Final = _SINGLE | {TIER_A_NAME}
_GLOBS: Final = tuple(name for name in TIER_B if "*" in name and "/" not in name)
# parent -> globs of the children that count
_CHILDREN: Final[dict[str, tuple[str, ...]]] = {
    parent: tuple(n.partition("/")[2] for n in TIER_B if n.partition("/")[0] == parent)
    for parent in (n.partition("/")[0] for n in TIER_B if "/" in n)
}
HOME: Final = TIER_B_HOME

# Trees that package tools make and remove as a whole: nothing in them is the person's own.
DEPENDENCIES: Final = frozenset(
    {"node_modules", "bower_components", "site-packages", "dist-packages", ".tox", ".nox", ".pnpm"}
)

# Inside a git directory. `info` may come about with what git itself writes there.
GIT_KEPT: Final = ("hooks", "config", "config.worktree", "info")
GIT_INFO: Final = frozenset({"exclude", "refs"})
GIT_UNWANTED: Final = ("commondir", "config.worktree")
DEEPEST: Final = 3000  # bytes of a path: below, names are soon too long to be opened or covered
TOO_DEEP: Final = "it lies too deep to be looked through"
LINKED_KEPT: Final = ("commondir", "gitdir", "config.worktree")  # of a linked work tree


def guarded(name: str, parent: str) -> bool:
    """Whether an entry `name` of a directory called `parent` stays as it is. `.git` is apart:
    under another spelling, which some disks take for the same, it is nothing that git makes.
    """
    folded = name.casefold()
    if folded in NAMES or any(fnmatchcase(folded, glob) for glob in _GLOBS):
        return True
    if folded == GIT and name != GIT:
        return True
    children = _CHILDREN.get(parent.casefold(), ())
    return any(fnmatchcase(folded, glob) for glob in children)


def too_deep(path: str) -> bool:
    """Whether a directory lies where commands get to step by step, and no look of ours does."""
    return len(path) > DEEPEST // 4 and len(os.fsencode(path)) > DEEPEST


def parent_of_guarded(name: str) -> bool:
    """Whether children of a directory called so count: a link of that name leads to others."""
    return name.casefold() in _CHILDREN
