"""Looks for protected and unreadable names in the writable directories.

Directories are remembered by inode and change time, which a command cannot set, so a second look
costs one stat for each. Nothing is followed out of the directories.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import time
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from gatewright.permissions.paths import below, inside
from gatewright.permissions.sandbox.disk import below_root as beneath
from gatewright.permissions.sandbox.disk.covers import covers
from gatewright.permissions.sandbox.disk.findings import Bounds, Sight
from gatewright.permissions.sandbox.disk.globs import GLOB_FLAGS, Glob, on_this_disk
from gatewright.permissions.sandbox.disk.guarded import (
    DEPENDENCIES,
    GIT,
    guarded,
    parent_of_guarded,
    too_deep,
)
from gatewright.permissions.sandbox.disk.named_files import everywhere
from gatewright.permissions.sandbox.disk.real_paths import reals
from gatewright.permissions.sandbox.disk.repository import GitParts, git_parts, linked, linked_parts
from gatewright.permissions.sandbox.profile import Masked, Survey

MAX_DIRECTORIES = 60_000  # what is more is closed to commands
MAX_AFTERWARDS = 240_000
MAX_LINKED = 500
LINK_DEPTH = 3
# What git takes for a repository by its content: with a common directory the rest lies there.
_BARE = (
    frozenset({"HEAD", "config", "objects"}),
    frozenset({"HEAD", "objects", "refs"}),
    frozenset({"HEAD", "commondir"}),
)
_MARKS = frozenset[str]().union(*_BARE)
_YOUNG = 50_000_000  # ns: a directory changed just now may change again within the same tick


class _Listing(msgspec.Struct, frozen=True):
    key: tuple[int, int]
    below: tuple[tuple[str, bool], ...]  # sub-directories to visit, and which hold dependencies
    guarded: tuple[str, ...]
    denied: tuple[str, ...]
    git: bool
    bare: bool  # looks like a git directory itself
    linked: bool = False  # links to directories were followed: look again each time

    def children(self, *, dependency: bool) -> Iterable[tuple[str, bool]]:
        """Where to go on; below a dependency all are dependencies."""
        return ((path, True) for path, _ in self.below) if dependency else self.below

    def parents(self, *, top: bool) -> Iterable[tuple[str, bool]]:
        """Where alone to go on in a flat look: what may hold protected names right below."""
        return (row for row in self.below if top and parent_of_guarded(_name(row[0])))


class _Found(msgspec.Struct):
    """What a walk came by, and where it did not come to."""

    guarded: set[str] = msgspec.field(default_factory=set[str])
    gits: set[str] = msgspec.field(default_factory=set[str])
    bare: set[str] = msgspec.field(default_factory=set[str])
    denied: list[str] = msgspec.field(default_factory=list[str])
    visited: set[str] = msgspec.field(default_factory=set[str])
    unseen: list[str] = msgspec.field(default_factory=list[str])
    left: bool = False  # dependencies

    def add(self, path: str, listing: _Listing, *, dependency: bool) -> None:
        self.denied.extend(listing.denied)
        if dependency:
            return
        self.guarded.update(listing.guarded)
        if listing.bare:
            self.bare.add(path)
        if listing.git:
            self.gits.add(f"{path}/{GIT}")


class Surveyor(msgspec.Struct):
    """Remembers what it saw between commands; `denies` are fixed for its lifetime."""

    roots: tuple[str, ...]
    home: str
    denies: tuple[Glob, ...] = ()
    allows: tuple[Glob, ...] = ()  # exceptions from them
    deny_writes: tuple[str, ...] = ()
    keeps: tuple[Glob, ...] = ()  # patterns of what must not change
    hidden: tuple[str, ...] = ()  # real, masked whatever is allowed to be read
    firm: tuple[Glob, ...] = ()  # of `denies` and what must not change: no yes opens them
    _seen: dict[str, _Listing] = msgspec.field(default_factory=dict[str, _Listing])
    _shut: set[str] = msgspec.field(default_factory=set[str])
    _denials: tuple[str, ...] = ()  # of the last look before a run
    _late: bool = False  # the time was over within a directory

    @property
    def names(self) -> list[Any]:
        """The names that are looked for besides the usual ones, as plain data."""
        patterns = ((keep.literal, keep.pattern.pattern) for keep in self.keeps if keep.pattern)
        return [list(self.deny_writes), [list(row) for row in patterns]]

    @classmethod
    def named(cls, roots: tuple[str, ...], home: str, names: list[Any]) -> Surveyor:
        """One that finds what another with these `names` finds. Raises ValueError and the like."""
        keeps = tuple(Glob(literal, re.compile(text, GLOB_FLAGS)) for literal, text in names[1])
        return cls(roots, home, deny_writes=tuple(names[0]), keeps=keeps)

    def look(self, bounds: Bounds | None = None) -> Sight:
        self._shut, self._late = set(), False
        found = self._walk(bounds)
        guarded = found.guarded.union(p for p in self.deny_writes if os.path.lexists(p))
        if bounds is None or len(self._seen) > MAX_AFTERWARDS:
            for path in self._seen.keys() - found.visited:
                del self._seen[path]
        denied = found.denied
        if bounds is None:
            if found.left:
                denied.extend(path for path in self._denials if os.path.lexists(path))
            self._denials = tuple(dict.fromkeys(denied))
        covered = covers(found.unseen, self.roots) if bounds is None else ()
        return Sight(
            frozenset(guarded),
            frozenset(found.gits),
            frozenset(found.bare),
            tuple(denied),
            complete=not found.unseen and not self._late,
            shut=frozenset(self._shut),
            linked=tuple((path, git) for path in found.gits if (git := linked(path, self.roots))),
            home=self.home,
            hooks=everywhere(self.home) if found.gits or found.bare else (),
            covered=covered or (),
            hopeless=covered is None,
        )

    def _walk(self, bounds: Bounds | None) -> _Found:
        queue = deque((root, False) for root in (self.roots if bounds is None else bounds.places))
        later = deque[tuple[str, bool]]()  # dependencies must not use up what others need
        found, most = _Found(), MAX_DIRECTORIES if bounds is None else MAX_AFTERWARDS
        skip = frozenset[str]() if bounds is None else bounds.skip
        flat = bounds.places if bounds is not None and bounds.flat else None
        while (queue or later) and len(found.visited) < most:
            if bounds is not None and bounds.late():
                break
            path, dependency = (queue or later).popleft()  # shallow ones first
            if path in found.visited or path in skip:
                continue
            found.visited.add(path)
            listing = self._listing(path, bounds)
            if listing is None:
                continue
            found.add(path, listing, dependency=dependency)
            below = listing.children(dependency=dependency)
            for row in below if flat is None else listing.parents(top=path in flat):
                (later if row[1] else queue).append(row)
        found.unseen = [
            row[0] for row in queue if row[0] not in found.visited and row[0] not in skip
        ]
        found.left = bool(later)
        return found

    def _listing(self, path: str, bounds: Bounds | None) -> _Listing | None:
        try:
            return self._list(path, bounds)
        except TimeoutError:
            self._late = True
            return None
        except PermissionError:
            if bounds is None or not _unlocked(path, bounds.since):
                self._shut.add(path)
                return None
        except OSError:
            self._seen.pop(path, None)
            return None
        try:
            return self._list(path, bounds)
        except OSError:
            self._shut.add(path)
            return None

    def _list(self, path: str, bounds: Bounds | None) -> _Listing:
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
        below: list[tuple[str, bool]] = []
        found: list[str] = []
        denied: list[str] = []
        git = linked = False
        marks: set[str] = set()
        parent = _name(path)
        for entry in entries:
            name, here = entry.name, f"{path}/{entry.name}"
            if name == GIT:
                git = True
                continue
            if name in _MARKS:
                marks.add(name)
            passage = parent_of_guarded(name) and entry.is_symlink()
            if passage or guarded(name, parent) or self.kept(here):
                found.append(here)
            if (self.denies or self.hidden) and self._denied(here):
                denied.append(here)
            elif entry.is_dir(follow_symlinks=False):
                if too_deep(here):
                    found.append(here)
                    denied.append(here)
                else:
                    below.append((here, name in DEPENDENCIES))
            elif not follow and entry.is_symlink():
                linked = True
            elif self.denies and entry.is_symlink() and entry.is_dir():
                linked = True
                denied.extend(f"{path}/{each}" for each in self._through(path, name))
        bare = any(marks >= wanted for wanted in _BARE)
        return _Listing(key, tuple(below), tuple(found), tuple(denied), git, bare, linked)

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

    def looks_in(self, path: str) -> bool:
        """Whether this lies where a look of ours goes."""
        if os.path.dirname(path) in (*self.roots, self.home):
            return True
        return any(inside(path, root) for root in self.roots if not inside(self.home, root))

    def finds(self, path: str) -> bool:
        """Whether a look comes by this as a protected name when it is there."""
        name = _name(path)
        named = guarded(name, _name(os.path.dirname(path))) or parent_of_guarded(name)
        found = named or too_deep(path) or self.kept(path)
        return path in self.deny_writes or (self.looks_in(path) and found)

    def kept(self, path: str) -> bool:
        return any(glob.matches(path) for glob in self.keeps)

    def _denied(self, path: str) -> bool:
        if path in self.hidden:
            return True
        if not any(glob.matches(path) for glob in self.denies):
            return False
        return not any(glob.matches(path) for glob in self.allows)

    def survey(self, sight: Sight) -> Survey:
        """What a profile needs to know of one look."""
        parts = self._git(sight)
        return Survey(
            protected=tuple(sorted(self._real({*sight.guarded, *parts.protected}))),
            masked=(*self._masked(sight), *(Masked(path, "dir") for path in sight.covered)),
            git_writes=parts.writes,
        )

    def firmly(self, sight: Sight, masked: Iterable[Masked]) -> frozenset[str]:
        """Which places no yes opens: what is ours, a repository's, or denied by the person."""
        kept = {*self.hidden, *self._git(sight).protected, *self.deny_writes}
        kept.update(path for path in sight.guarded if self.kept(path))
        seen = (*sight.denied, *(mask.path for mask in masked))
        kept.update(path for path in seen if any(glob.matches(path) for glob in self.firm))
        kept.update(glob.literal for glob in self.firm if glob.pattern is None)
        return frozenset((*kept, *map(os.path.realpath, kept)))

    def _git(self, sight: Sight) -> GitParts:
        parts = GitParts()
        for path in sight.repositories:
            if os.path.islink(path):
                parts += GitParts((path,))
            elif os.path.isdir(path):
                parts += git_parts(path, sight.home, sight.hooks)
            else:
                parts += linked_parts(path, self.roots, sight.home, sight.hooks)
        for path in sight.bare:
            parts += git_parts(path, sight.home, sight.hooks)
        return parts

    def _real(self, paths: Iterable[str]) -> Iterator[str]:
        """A link cannot be covered, its target can; the link itself is looked at afterwards."""
        for path in paths:
            if not os.path.islink(path):
                yield path
                continue
            if self._passage(path):
                yield from aliased(path)
                continue
            target = os.path.realpath(path)
            if os.path.lexists(target) and any(below(target, root) for root in self.roots):
                yield target

    def _passage(self, path: str) -> bool:
        """A link that is nothing itself, but called as the parent of protected names."""
        if self.kept(path) or path in self.deny_writes:
            return False
        return not guarded(_name(path), _name(os.path.dirname(path)))

    def _masked(self, sight: Sight) -> Iterator[Masked]:
        found = set(sight.denied)
        for glob in self.denies:
            if glob.pattern is None:
                if not any(allow.matches(glob.literal) for allow in self.allows):
                    found.add(glob.literal)
            elif not any(
                inside(glob.literal, root) or inside(root, glob.literal) for root in self.roots
            ):
                found.update(on_this_disk(glob))
        done = set(self.hidden)
        for path in self.hidden:
            if kind := _kind(path):
                yield Masked(path, "dir" if kind == "dir" else "file")
        for real, link in reals(sorted(found)):
            if link and not any(inside(real, place) for place in (*self.roots, self.home)):
                continue
            if real not in done and (kind := _kind(real)):
                done.add(real)
                yield Masked(real, "dir" if kind == "dir" else "file")


def aliased(link: str) -> Iterator[str]:
    """What counts as protected because a link is called as the directory it would lie in."""
    name, target = _name(link), os.path.realpath(link)
    with contextlib.suppress(OSError):
        children = os.listdir(target)[:MAX_LINKED] if parent_of_guarded(name) else ()
        yield from (f"{target}/{child}" for child in children if guarded(child, name))


def _unlocked(path: str, since: float) -> bool:
    """Whether a directory, or the one it lies in, was shut to us since then and is open now."""
    done = False
    for each in (os.path.dirname(path), path):
        with contextlib.suppress(OSError):
            if os.lstat(each).st_ctime_ns >= since:
                beneath.unlock(each)
                done = True
    return done


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _kind(path: str) -> str:
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return ""
    return "dir" if stat.S_ISDIR(mode) else "file"
