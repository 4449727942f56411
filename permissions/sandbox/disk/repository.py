"""Where a work tree's git directory is, and which parts of it stay as they are.

A `.git` file is believed only when the directory it names points back: the file may be planted.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

from gatewright.permissions.paths import inside
from gatewright.permissions.sandbox.disk.guarded import GIT_KEPT, LINKED_KEPT
from gatewright.tools.system.regular import head_of

_SMALL = 4096
_CONFIG = 256 * 1024
_MODULES = 200


@dataclass(frozen=True, slots=True)
class GitParts:
    """`writes` is what git needs to write outside the work tree."""

    protected: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()

    def __add__(self, other: GitParts) -> GitParts:
        return GitParts(
            self.protected + other.protected,
            self.writes + other.writes,
        )


def git_parts(git: str) -> GitParts:
    """A git directory that lies in the work tree, and the submodules kept in it."""
    parts = _kept(git)
    modules = f"{git}/modules"
    if os.path.isdir(modules) and not os.path.islink(modules):
        for module in _modules(modules):
            parts += _kept(module)
    return parts


def _named(git: str) -> Iterator[str]:
    """Hooks and further configuration that a repository's own configuration names."""
    tree = os.path.dirname(git)
    section = ""
    for line in _text(f"{git}/config", _CONFIG).splitlines():
        word = line.strip()
        if word.startswith("["):
            section = word[1:].split("]")[0].split()[0].lower() if len(word) > 2 else ""
            word = word.partition("]")[2].strip()
        key, _, value = word.partition("=")
        value = value.strip().strip('"')
        if not value or value.startswith("~"):
            continue
        if section == "core" and key.strip().lower() == "hookspath":
            yield os.path.normpath(os.path.join(tree, value))
        elif section in ("include", "includeif") and key.strip().lower() == "path":
            yield os.path.normpath(os.path.join(git, value))


def _kept(git: str) -> GitParts:
    protected = [f"{git}/{name}" for name in GIT_KEPT if os.path.lexists(f"{git}/{name}")]
    protected.extend(path for path in _named(git) if os.path.lexists(path))
    trees = f"{git}/worktrees"
    for name in _names(trees):
        protected.extend(
            f"{trees}/{name}/{part}"
            for part in LINKED_KEPT
            if os.path.lexists(f"{trees}/{name}/{part}")
        )
    return GitParts(tuple(protected))


def absent(git: str) -> Iterator[str]:
    """What could run programs if it were there: hooks, attributes, what the configuration names."""
    for path in (f"{git}/hooks", f"{git}/info", f"{git}/config", *_named(git)):
        if not os.path.lexists(path):
            yield path


def linked_parts(file: str, roots: tuple[str, ...]) -> GitParts:
    """A `.git` file: a linked work tree or a submodule whose repository lies elsewhere."""
    text = _text(file)
    if not text.startswith("gitdir:"):
        return GitParts((file,))
    git = os.path.realpath(os.path.join(os.path.dirname(file), text[7:].strip()))
    protected = GitParts((file,))
    if any(inside(git, root) for root in roots):
        return protected  # part of another `.git` in here, which is looked at by itself
    back = _text(f"{git}/gitdir")
    if back and os.path.realpath(os.path.join(git, back)) == os.path.realpath(file):
        common = os.path.realpath(os.path.join(git, _text(f"{git}/commondir") or "."))
        writes = [git, *(f"{common}/{name}" for name in ("objects", "refs", "logs"))]
        kept = [f"{git}/{part}" for part in LINKED_KEPT if os.path.lexists(f"{git}/{part}")]
        there = tuple(path for path in writes if os.path.isdir(path))
        return protected + GitParts(tuple(kept), there)
    if f"{os.sep}.git{os.sep}modules{os.sep}" in git and _submodule_of(git, file):
        return protected + _kept(git) + GitParts((), (git,))
    return protected


def git_directories(path: str) -> Iterator[str]:
    """The git directories a `.git` directory holds: itself, submodules, linked work trees."""
    if os.path.islink(path) or not os.path.isdir(path):
        return
    yield path
    yield from _modules(f"{path}/modules")
    for name in _names(f"{path}/worktrees"):
        yield f"{path}/worktrees/{name}"


def believed(path: str, roots: tuple[str, ...]) -> bool:
    """Whether a new `.git` may stay: a directory, or a file that git wrote for this very place."""
    if os.path.islink(path):
        return False
    if os.path.isdir(path):
        return True
    text = _text(path)
    git = os.path.realpath(os.path.join(os.path.dirname(path), text[7:].strip()))
    if not text.startswith("gitdir:") or not any(inside(git, root) for root in roots):
        return False
    if f"{os.sep}.git{os.sep}" not in git:
        return False
    back = _text(f"{git}/gitdir")
    if back and os.path.realpath(os.path.join(git, back)) == os.path.realpath(path):
        return True
    return _submodule_of(git, path)


def _submodule_of(git: str, file: str) -> bool:
    for line in _text(f"{git}/config").splitlines():
        key, _, value = line.partition("=")
        if key.strip().lower() == "worktree":
            tree = os.path.realpath(os.path.join(git, value.strip().strip('"')))
            return tree == os.path.realpath(os.path.dirname(file))
    return False


def _modules(directory: str) -> Iterator[str]:
    """Git directories below `.git/modules`: names may hold slashes."""
    queue, seen = [directory], 0
    while queue and seen < _MODULES:
        here = queue.pop()
        seen += 1
        if os.path.lexists(f"{here}/HEAD"):
            yield here
            nested = f"{here}/modules"
            if os.path.isdir(nested):
                queue.append(nested)
            continue
        queue.extend(
            f"{here}/{name}"
            for name in _names(here)
            if os.path.isdir(f"{here}/{name}") and not os.path.islink(f"{here}/{name}")
        )


def _names(directory: str) -> list[str]:
    try:
        return os.listdir(directory)
    except OSError:
        return []


def _text(path: str, most: int = _SMALL) -> str:
    try:
        return os.fsdecode(head_of(path, most).replace(b"\0", b"")).strip()
    except OSError:
        return ""
