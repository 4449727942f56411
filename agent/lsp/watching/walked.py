"""One look through directories: which files are there, each with its stamp. Bounded, and no link
is followed."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable, Sequence

import msgspec

from gatewright.agent.lsp.texts import Stamp

MOST, SECONDS = 20_000, 2.0  # entries of all directories, and for all of them
NEVER = frozenset({".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", "venv"})


class TooLarge(Exception):
    """More than anybody looks through before a request."""


class TooSlow(Exception):
    """The disk has no time for it now."""


class Tree(msgspec.Struct):
    files: dict[str, Stamp] = {}
    folders: set[str] = set()
    unread: list[str] = []  # directories that could not be looked into


def looked(roots: Sequence[str], wants: Callable[[str], bool], left_out: Collection[str]) -> Tree:
    """Raises TooLarge or TooSlow."""
    tree, open_, seen = Tree(), list(roots), 0
    deadline = time.monotonic() + SECONDS
    while open_:
        folder = open_.pop()
        tree.folders.add(folder)
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    seen += 1
                    if seen > MOST:
                        raise TooLarge
                    if entry.path not in left_out:
                        _take(entry, tree, open_, wants)
        except FileNotFoundError:
            continue
        except OSError:
            tree.unread.append(folder)
        if time.monotonic() > deadline:
            raise TooSlow
    return tree


def _take(
    entry: os.DirEntry[str], tree: Tree, open_: list[str], wants: Callable[[str], bool]
) -> None:
    if entry.is_dir(follow_symlinks=False):
        if entry.name not in NEVER:
            open_.append(entry.path)
    elif wants(entry.path):
        try:
            found = entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            return
        tree.files[entry.path] = found.st_mtime_ns, found.st_size, found.st_ino


def below(path: str, folders: Iterable[str]) -> bool:
    return any(path.startswith(f"{each.rstrip('/')}/") for each in folders)


def topmost(folders: Iterable[str]) -> tuple[str, ...]:
    """Without those that lie below another."""
    found = set(folders)
    return tuple(sorted(each for each in found if not below(each, found)))


def without(tree: Tree, left_out: Collection[str]) -> Tree:
    """What was found before it was known that git leaves those out."""
    files = {p: s for p, s in tree.files.items() if p not in left_out and not below(p, left_out)}
    return Tree(files, tree.folders, tree.unread)
