"""Looks for protected and unreadable names in the writable directories.

Directories are remembered by inode and change time, which a command cannot set, so a second look
costs one stat for each. Nothing is followed out of the directories.
"""

from __future__ import annotations

import math
import os
import stat
import time
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from gatewright.permissions.paths import inside
from gatewright.permissions.sandbox.globs import Glob
from gatewright.permissions.sandbox.guarded import (
    DEPENDENCIES,
    GIT,
    HOME,
    MISSING,
    MISSING_AT_HOME,
    VENV_MARK,
    guarded,
)
from gatewright.permissions.sandbox.placeholders import is_placeholder
from gatewright.permissions.sandbox.profile import Masked, Survey
from gatewright.permissions.sandbox.repository import GitParts, git_parts, linked_parts

MAX_DIRECTORIES = 60_000
MAX_OUTSIDE = 5_000
MAX_LINKED = 500
LINK_DEPTH = 3
_BARE = frozenset({"HEAD", "config", "objects"})
_YOUNG = 50_000_000  # ns: a directory changed just now may change again within the same tick


@dataclass(frozen=True, slots=True)
class _Listing:
    key: tuple[int, int]
    below: tuple[str, ...]  # sub-directories to visit
    guarded: tuple[str, ...]
    denied: tuple[str, ...]
    git: bool
    bare: bool  # looks like a git directory itself
    dependencies: bool
    linked: bool = False  # links to directories were followed: look again each time


@dataclass(frozen=True, slots=True)
class Sight:
    """One look at the disk. `guarded` holds every protected name found, links included."""

    guarded: frozenset[str]
    repositories: frozenset[str]  # paths called .git
    bare: frozenset[str]  # directories that are repositories without being called .git
    denied: tuple[str, ...]
    complete: bool


@dataclass(frozen=True, slots=True)
class Bounds:
    """Look only in these places, only until then; after a run through no link."""

    places: tuple[str, ...]
    deadline: float = math.inf  # of the monotonic clock
    follow: bool = False

    def late(self) -> bool:
        return time.monotonic() > self.deadline

    def in_time(self, entries: Iterable[os.DirEntry[str]]) -> Iterator[os.DirEntry[str]]:
        for entry in entries:
            if self.late():
                raise TimeoutError
            yield entry


@dataclass(slots=True)
class Surveyor:
    """Remembers what it saw between commands; `denies` are fixed for its lifetime."""

    roots: tuple[str, ...]
    home: str
    denies: tuple[Glob, ...] = ()
    allows: tuple[Glob, ...] = ()  # exceptions from them
    deny_writes: tuple[str, ...] = ()
    keeps: tuple[Glob, ...] = ()  # patterns of what must not change
    _seen: dict[str, _Listing] = field(default_factory=dict[str, _Listing])

    def look(self, bounds: Bounds | None = None) -> Sight:
        found: set[str] = set()
        gits: set[str] = set()
        bare: set[str] = set()
        denied: list[str] = []
        queue = deque((root, False) for root in (self.roots if bounds is None else bounds.places))
        visited: set[str] = set()
        while queue and len(visited) < MAX_DIRECTORIES and (bounds is None or not bounds.late()):
            path, dependency = queue.popleft()  # shallow ones first: the limit leaves deep ones out
            if path in visited:
                continue
            visited.add(path)
            listing = self._listing(path, bounds)
            if listing is None:
                continue
            dependency = dependency or listing.dependencies
            if not dependency:
                found.update(f"{path}/{name}" for name in listing.guarded)
                if listing.bare:
                    bare.add(path)
                if listing.git:
                    gits.add(f"{path}/{GIT}")
            denied.extend(f"{path}/{name}" for name in listing.denied)
            queue.extend(
                (f"{path}/{name}", dependency or name in DEPENDENCIES) for name in listing.below
            )
        found.update(path for path in self.deny_writes if os.path.lexists(path))
        if bounds is None or len(self._seen) > MAX_DIRECTORIES:
            for path in self._seen.keys() - visited:
                del self._seen[path]
        return Sight(
            frozenset(found), frozenset(gits), frozenset(bare), tuple(denied), complete=not queue
        )

    def _listing(self, path: str, bounds: Bounds | None) -> _Listing | None:
        try:
            status = os.lstat(path)
            key = (status.st_ino, status.st_ctime_ns)
            seen = self._seen.get(path)
            if seen is not None and seen.key == key:
                return seen
            with os.scandir(path) as entries:
                if bounds is None:
                    listing = self._read(path, key, entries)
                else:
                    listing = self._read(path, key, bounds.in_time(entries), follow=bounds.follow)
        except OSError:
            self._seen.pop(path, None)
            return None
        if time.time_ns() - status.st_ctime_ns > _YOUNG and not listing.linked:
            self._seen[path] = listing
        return listing

    def _read(
        self,
        path: str,
        key: tuple[int, int],
        entries: Iterable[os.DirEntry[str]],
        *,
        follow: bool = True,
    ) -> _Listing:
        below: list[str] = []
        found: list[str] = []
        denied: list[str] = []
        git = venv = linked = False
        marks = 0
        parent = path.rpartition("/")[2]
        for entry in entries:
            name = entry.name
            if name == GIT:
                git = True
                continue
            venv = venv or name == VENV_MARK
            marks += name in _BARE
            hit = guarded(name, parent) or self._kept(f"{path}/{name}")
            if hit:
                found.append(name)
            if self.denies and self._denied(f"{path}/{name}"):
                denied.append(name)
            elif entry.is_dir(follow_symlinks=False):
                below.append(name)
            elif not follow and entry.is_symlink():
                linked = True
            elif self.denies and entry.is_symlink() and entry.is_dir():
                linked = True
                denied.extend(self._through(path, name))
        bare = marks == len(_BARE)
        return _Listing(key, tuple(below), tuple(found), tuple(denied), git, bare, venv, linked)

    def _through(self, path: str, link: str) -> Iterator[str]:
        """Names that are denied by the way a link gives to them, relative to `path`."""
        queue = [(link, 0)]
        count = 0
        while queue and count < MAX_LINKED:
            here, depth = queue.pop()
            try:
                with os.scandir(f"{path}/{here}") as entries:
                    for entry in entries:
                        count += 1
                        name = f"{here}/{entry.name}"
                        if self._denied(f"{path}/{name}"):
                            yield name
                        elif depth < LINK_DEPTH and entry.is_dir(follow_symlinks=False):
                            queue.append((name, depth + 1))
            except OSError:
                continue

    def _kept(self, path: str) -> bool:
        return any(glob.matches(path) for glob in self.keeps)

    def _denied(self, path: str) -> bool:
        if not any(glob.matches(path) for glob in self.denies):
            return False
        return not any(glob.matches(path) for glob in self.allows)

    def survey(self, sight: Sight) -> Survey:
        """What a profile needs to know of one look."""
        parts = self._git(sight)
        named = {*sight.guarded, *parts.protected}
        standing = {path for path in named if is_placeholder(path)}  # of another run
        protected = named - standing
        missing = {*parts.missing, *standing}
        for place in {*self.roots, self.home}:  # home counts only if it can be written
            missing.update(
                path
                for name in (MISSING_AT_HOME if place == self.home else MISSING)
                if (path := f"{place}/{name}") not in protected and not os.path.lexists(path)
            )
        for name in HOME:
            path = f"{self.home}/{name}"
            (protected if os.path.lexists(path) else missing).add(path)
        for path in self.deny_writes:
            (protected if os.path.lexists(path) else missing).add(path)
        return Survey(
            protected=tuple(sorted(self._real(protected))),
            missing=tuple(sorted({*standing, *self._blockable(missing - standing)})),
            masked=tuple(self._masked(sight)),
            git_writes=parts.writes,
        )

    def _git(self, sight: Sight) -> GitParts:
        parts = GitParts()
        for path in sight.repositories:
            if os.path.islink(path):
                parts += GitParts((path,))
            elif os.path.isdir(path):
                parts += git_parts(path)
            else:
                parts += linked_parts(path, self.roots)
        for path in sight.bare:
            parts += git_parts(path)
        return parts

    def _real(self, paths: Iterable[str]) -> Iterator[str]:
        """A link cannot be covered, its target can; the link itself is looked at afterwards."""
        for path in paths:
            if not os.path.islink(path):
                yield path
                continue
            target = os.path.realpath(path)
            if os.path.lexists(target) and any(_below(target, root) for root in self.roots):
                yield target

    def _blockable(self, paths: Iterable[str]) -> Iterator[str]:
        """Where a stand-in can and may be made: elsewhere there is none."""
        known: dict[str, bool] = {}
        for path in paths:
            parent = os.path.dirname(path)
            if parent not in known:
                base = parent if os.path.lexists(parent) else os.path.dirname(parent)
                known[parent] = self._ours(base)
            if known[parent]:
                yield path

    def _ours(self, directory: str) -> bool:
        """A directory of the person's own, not one that others share: `/`, above home."""
        if directory == "/" or (directory != self.home and inside(self.home, directory)):
            return False
        try:
            status = os.lstat(directory)
        except OSError:
            return False
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
            return False
        return os.path.realpath(directory) == directory and os.access(directory, os.W_OK)

    def _masked(self, sight: Sight) -> Iterator[Masked]:
        found = set(sight.denied)
        for glob in self.denies:
            if glob.pattern is None:
                if not any(allow.matches(glob.literal) for allow in self.allows):
                    found.add(glob.literal)
            elif not any(
                inside(glob.literal, root) or inside(root, glob.literal) for root in self.roots
            ):
                found.update(_outside(glob))
        done: set[str] = set()
        for path in sorted(found):
            real = os.path.realpath(path)
            if os.path.islink(path) and not any(
                inside(real, place) for place in (*self.roots, self.home)
            ):
                continue
            if real not in done and (kind := _kind(real)):
                done.add(real)
                yield Masked(real, "dir" if kind == "dir" else "file")


def _outside(glob: Glob) -> Iterator[str]:
    """Matches of a pattern that begins outside the writable directories, within bounds."""
    count, queue = 0, [glob.literal]
    while queue and count < MAX_OUTSIDE:
        here = queue.pop()
        try:
            with os.scandir(here) as entries:
                for entry in entries:
                    count += 1
                    if glob.matches(entry.path):
                        yield entry.path
                    elif entry.is_dir(follow_symlinks=False):
                        queue.append(entry.path)
        except OSError:
            continue


def _kind(path: str) -> str:
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return ""
    return "dir" if stat.S_ISDIR(mode) else "file"


def _below(path: str, root: str) -> bool:
    return path != root and inside(path, root)
