"""Which names below a writable directory stay as they are, and which parts of a repository.

The names are the gate's own tiers; what differs is git: work needs most of `.git` writable, so
there only what can run programs is kept.
"""

from __future__ import annotations

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

# What stands in for a missing name is an empty directory, and these tools stop when they find one.
_READ_AS_FILES: Final = frozenset({".pnpmfile.cjs", "bunfig.toml", "pip.conf", "config.fish"})
# Read in a home directory alone: elsewhere nothing stands in for them.
_AT_HOME: Final = frozenset(
    {".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile", ".zshrc", ".zprofile",
     ".zshenv", ".zlogin", ".zlogout", ".pypirc", ".gitconfig", ".ripgreprc"}
)  # fmt: skip
MISSING: Final = (
    *sorted(NAMES - _READ_AS_FILES - _AT_HOME), ".yarnrc", ".github/workflows", ".cargo"
)  # fmt: skip
MISSING_AT_HOME: Final = (*MISSING, *sorted(_AT_HOME), ".config/fish")

# Trees that package tools make and remove as a whole: nothing in them is the person's own.
DEPENDENCIES: Final = frozenset(
    {"node_modules", "bower_components", "site-packages", "dist-packages", ".tox", ".nox", ".pnpm"}
)
VENV_MARK: Final = "pyvenv.cfg"

# Inside a git directory. Directories may be blocked while they are missing, files cannot be:
# git stops at an empty directory where it wants a file, so those are looked for afterwards.
GIT_KEPT: Final = ("hooks", "config", "config.worktree", "info")
GIT_BLOCKED: Final = ("hooks", "info")
GIT_UNWANTED: Final = ("commondir", "config.worktree")
LINKED_KEPT: Final = ("commondir", "gitdir", "config.worktree")  # of a linked work tree


def guarded(name: str, parent: str) -> bool:
    """Whether an entry `name` of a directory called `parent` stays as it is. `.git` is apart."""
    folded = name.casefold()
    if folded in NAMES or any(fnmatchcase(folded, glob) for glob in _GLOBS):
        return True
    children = _CHILDREN.get(parent.casefold(), ())
    return any(fnmatchcase(folded, glob) for glob in children)
