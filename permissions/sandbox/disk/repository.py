"""Where a work tree's git directory is, and which parts of it stay as they are.

A `.git` file is believed only when the directory it names points back: the file may be planted.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator

import msgspec

from gatewright.permissions.paths import inside
from gatewright.permissions.sandbox.disk.guarded import GIT_KEPT, LINKED_KEPT
from gatewright.permissions.sandbox.disk.named_files import named, names_in
from gatewright.tools.system.regular import head_of

_SMALL = 4096
MOST = 5000  # directories in one repository that are looked through for others
_GITS_OWN = frozenset(
    {"objects", "refs", "logs", "hooks", "info", "lfs", "rr-cache", "branches", "modules",
     "worktrees", "rebase-merge", "rebase-apply", "sequencer", "annex"}
)  # fmt: skip


class GitParts(msgspec.Struct, frozen=True):
    """`writes` is what git needs to write outside the work tree."""

    protected: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()

    def __add__(self, other: GitParts) -> GitParts:
        return GitParts(
            self.protected + other.protected,
            self.writes + other.writes,
        )


def git_parts(git: str, home: str = "", hooks: tuple[str, ...] = ()) -> GitParts:
    """A git directory that lies in the work tree, with all that are kept in it."""
    parts = GitParts()
    for each in git_directories(git).found or (git,):
        parts += _kept(each, home, hooks)
    return parts


def _kept(git: str, home: str, hooks: tuple[str, ...]) -> GitParts:
    protected = [f"{git}/{name}" for name in GIT_KEPT if os.path.lexists(f"{git}/{name}")]
    protected.extend(path for path in named(git, home, hooks) if os.path.lexists(path))
    trees = f"{git}/worktrees"
    for name in names_in(trees):
        protected.extend(
            f"{trees}/{name}/{part}"
            for part in LINKED_KEPT
            if os.path.lexists(f"{trees}/{name}/{part}")
        )
    return GitParts(tuple(protected))


def absent(git: str, home: str = "", hooks: tuple[str, ...] = ()) -> Iterator[str]:
    """What could run programs if it were there: hooks, attributes, what the configuration names."""
    for path in (f"{git}/hooks", f"{git}/info", f"{git}/config", *named(git, home, hooks)):
        if not os.path.lexists(path):
            yield path


def target(file: str) -> str:
    """The git directory that a `.git` file names, wherever that is; '' where it names none."""
    text = "" if os.path.islink(file) else _text(file)
    if not text.startswith("gitdir:"):
        return ""
    return os.path.realpath(os.path.join(os.path.dirname(file), text[7:].strip()))


def linked_parts(
    file: str, roots: tuple[str, ...], home: str = "", hooks: tuple[str, ...] = ()
) -> GitParts:
    """A `.git` file: a linked work tree or a submodule whose repository lies elsewhere."""
    git = linked(file, roots)
    protected = GitParts((file,))
    if not git:
        return protected
    if any(inside(git, root) for root in roots):
        return protected + _kept(git, home, hooks)
    if not _points_back(git, file):
        return protected + git_parts(git, home, hooks) + GitParts((), (git,))
    common = _common(git)
    writes = [git, *(f"{common}/{name}" for name in ("objects", "refs", "logs"))]
    kept = [f"{git}/{part}" for part in LINKED_KEPT if os.path.lexists(f"{git}/{part}")]
    there = tuple(path for path in writes if os.path.isdir(path))
    return protected + GitParts(tuple(kept), there)


def linked(file: str, roots: tuple[str, ...]) -> str:
    """The git directory of a `.git` file: one in here, or one elsewhere that points back; or ''."""
    git = target(file)
    if not git or any(inside(git, root) for root in roots) or _points_back(git, file):
        return git
    submodule = f"{os.sep}.git{os.sep}modules{os.sep}" in git and _submodule_of(git, file)
    return git if submodule else ""


def _points_back(git: str, file: str) -> bool:
    back = _text(f"{git}/gitdir")
    if not back or os.path.realpath(os.path.join(git, back)) != os.path.realpath(file):
        return False
    return os.path.dirname(git) == f"{_common(git)}/worktrees"  # where git itself puts it


def _common(git: str) -> str:
    return os.path.realpath(os.path.join(git, _text(f"{git}/commondir") or "."))


class Gits(msgspec.Struct, frozen=True):
    """Git directories in one; not `whole` when there are more than are looked through."""

    found: tuple[str, ...] = ()
    whole: bool = True


def git_directories(path: str) -> Gits:
    """The git directories a `.git` directory holds: itself, submodules, linked work trees.

    Names of submodules may hold slashes, and what lies beside a decoy counts as well.
    """
    if os.path.islink(path) or not os.path.isdir(path):
        return Gits()
    found: list[str] = []
    queue, seen = [(path, True)], 0
    while queue:
        here, git = queue.pop()
        seen += 1
        if seen > MOST:
            return Gits(tuple(found), whole=False)
        if git:
            found.append(here)
            queue.extend((each, True) for each in _directories(f"{here}/worktrees"))
            queue.extend(_below(f"{here}/modules"))
        if here != path:
            queue.extend(_below(here))
    return Gits(tuple(dict.fromkeys(found)))


def _below(directory: str) -> Iterator[tuple[str, bool]]:
    for each in _directories(directory):
        if os.path.basename(each) not in _GITS_OWN:
            yield each, os.path.lexists(f"{each}/HEAD")


def _directories(directory: str) -> Iterator[str]:
    for name in names_in(directory):
        each = f"{directory}/{name}"
        if os.path.isdir(each) and not os.path.islink(each):
            yield each


def believed(path: str, looked_at: Collection[str]) -> bool:
    """Whether a new `.git` may stay: a directory, or a file that git wrote for this very place.

    What the file names must be among the git directories that were `looked_at`.
    """
    if os.path.islink(path):
        return False
    if os.path.isdir(path):
        return True
    git = target(path)
    if git not in looked_at:
        return False
    return _points_back(git, path) or _submodule_of(git, path)


def _submodule_of(git: str, file: str) -> bool:
    for line in _text(f"{git}/config").splitlines():
        key, _, value = line.partition("=")
        if key.strip().lower() == "worktree":
            tree = os.path.realpath(os.path.join(git, value.strip().strip('"')))
            return tree == os.path.realpath(os.path.dirname(file))
    return False


def _text(path: str, most: int = _SMALL) -> str:
    try:
        return os.fsdecode(head_of(path, most).replace(b"\0", b"")).strip()
    except OSError:
        return ""
