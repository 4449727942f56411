"""After a run: what appeared under a protected name is put aside, and it is told.

Names that do not exist cannot be shielded beforehand without showing something that is not there.
So what was there is written down before a run, and what is new afterwards is moved to a place of
ours; a new repository stays without what in it would run a program.
"""

from __future__ import annotations

import contextlib
import os
import stat
import time
from collections.abc import Callable, Collection, Iterable, Iterator

import msgspec
from msgspec.structs import replace

from gatewright.permissions.paths import inside
from gatewright.permissions.sandbox.disk import below_root as beneath
from gatewright.permissions.sandbox.disk.aside import Aside, Batch, beside
from gatewright.permissions.sandbox.disk.covered import Mark, born, marks, replaced
from gatewright.permissions.sandbox.disk.findings import Sight
from gatewright.permissions.sandbox.disk.gitconfig import LARGEST, harmless, programs
from gatewright.permissions.sandbox.disk.guarded import GIT_INFO, GIT_UNWANTED, TOO_DEEP, too_deep
from gatewright.permissions.sandbox.disk.repository import absent, believed, git_directories
from gatewright.permissions.sandbox.disk.survey import Surveyor, aliased
from gatewright.permissions.sandbox.naming import shown, spelled
from gatewright.tools.system.regular import read_regular

_TICK = 20_000_000  # ns: a disk's clock is a little behind
_NAMED = 5
MOST = 1000  # moves at once; what is more waits for the next look
_FILES = 2000
RUNS_CODE = "commands do not make such files, they can run code"


class Before(msgspec.Struct, frozen=True):
    """What was there before a run, in the terms of what is looked at after it."""

    guarded: frozenset[str] = frozenset()
    repositories: frozenset[str] = frozenset()
    directories: frozenset[str] = frozenset()  # git's, of submodules and linked work trees, too
    unwanted: frozenset[str] = frozenset()
    absent: frozenset[str] = frozenset()  # parts of repositories that were not there
    shut: frozenset[str] = frozenset()
    complete: bool = True
    links: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    since: int = msgspec.field(default_factory=time.time_ns)
    crowded: frozenset[str] = frozenset()  # repositories with more in them than is looked through
    marks: dict[str, Mark] = msgspec.field(
        default_factory=dict[str, Mark]
    )  # of what runs have covered
    running: dict[str, frozenset[str]] = msgspec.field(default_factory=dict[str, frozenset[str]])

    @classmethod
    def of(cls, sight: Sight, before: Before | None = None) -> Before:
        """With the git directories of `.git` files, of which after a run only old ones count."""
        linked = {git for file, git in sight.linked if before is None or before.knew(file)}
        directories, crowded = _directories(sight, linked)
        named = (*sight.guarded, *sight.repositories, *_hooks(directories))
        links = {path: os.readlink(path) for path in named if os.path.islink(path)}
        return cls(
            sight.guarded.union(*map(aliased, links)),
            sight.repositories,
            directories,
            frozenset(_unwanted(directories)),
            frozenset(path for git in directories for path in absent(git, sight.home, sight.hooks)),
            sight.shut.union(sight.covered),
            sight.complete or bool(sight.covered),
            links,
            crowded=crowded,
            marks=marks((*sight.guarded, *_hooks(directories))) if before is None else {},
            running=programs(directories) if before is None else {},
        )

    def following(self, old: Before, looked: Surveyor) -> Before:
        """This, seen later by another: what the one before `looked` for is as `old` knew it."""

        def known(
            now: frozenset[str], then: frozenset[str], found: Callable[[str], bool]
        ) -> frozenset[str]:
            return then.union(path for path in now if not found(path))

        guarded = known(self.guarded, old.guarded, looked.finds)
        repositories = known(self.repositories, old.repositories, looked.looks_in)
        links = {path: to for path, to in self.links.items() if path in guarded | repositories}
        directories = known(self.directories, old.directories, looked.looks_in)
        running = {git: lines for git, lines in self.running.items() if git in directories}
        covered = {path: mark for path, mark in self.marks.items() if not looked.looks_in(path)}
        return replace(
            self,
            guarded=guarded,
            repositories=repositories,
            directories=directories,
            unwanted=known(self.unwanted, old.unwanted, looked.looks_in),
            absent=known(self.absent, old.absent, looked.looks_in),
            shut=self.shut | old.shut,
            complete=self.complete and old.complete,
            links=links | old.links,
            marks=covered | old.marks,  # in what goes on, too
            running=running | old.running,
            since=old.since,
        )

    def knew(self, path: str) -> bool:
        """Whether this was a `.git` that is no directory: one that became so is new."""
        return path in self.repositories and path not in self.directories


def own_places(roots: tuple[str, ...], home: str) -> tuple[str, ...]:
    """Roots that are one thing the person works on: not the whole disk, not a whole home."""
    return tuple(root for root in roots if not inside(home, root))


class Settlement(msgspec.Struct):
    """Finds what a run may have made. Nothing that was there before is ever moved."""

    approved: frozenset[str]  # made by somebody with the right to: these, nothing below them
    roots: tuple[str, ...]
    aside: Aside | None = None  # None: nothing moves, `found` is all
    opened: frozenset[str] = frozenset()  # exactly these may be new, nothing below them
    found: list[str] = msgspec.field(default_factory=list[str])  # new, and still where it is
    moved: dict[str, list[str]] = msgspec.field(default_factory=dict[str, list[str]])  # by reason
    failed: list[str] = msgspec.field(default_factory=list[str])
    batch: Batch | None = None
    until: int = 0  # what was born later was not made by the run
    over: bool = True  # False: there is more than one look may move
    _before: Before = msgspec.field(default_factory=Before)
    _count: int = 0

    def compare(self, before: Before, after: Sight) -> None:
        self._before, now = before, Before.of(after, before)
        lost = frozenset(replaced(before.marks))
        for path in sorted(now.guarded & lost | now.guarded - before.guarded):
            self._put(path, TOO_DEEP if too_deep(path) else RUNS_CODE)
        for path, target in before.links.items():
            self._relink(path, target)
        self._repositories(before, now, lost)

    def _repositories(self, before: Before, now: Before, lost: frozenset[str]) -> None:
        for path in sorted(now.repositories):
            if not before.knew(path) and not believed(path, now.directories):
                self._put(path, "it names a repository elsewhere")
        for path in sorted(now.crowded):
            self._thin(path)
        for path in sorted(now.directories - before.directories):
            if os.path.isdir(path):
                self._disarm(path)
        for path in sorted(before.absent | lost.intersection(_hooks(before.directories))):
            self._part(path)
        for path in sorted(now.unwanted - before.unwanted):
            if os.path.lexists(path) and not _genuine(path, now.directories):
                self._put(path, "it would redirect git")

    def _thin(self, git: str) -> None:
        """Take what came in the run out of a repository that holds more than is looked through."""
        self.over = False
        known = set(self._before.directories)
        for each in self._before.directories:
            while (each := os.path.dirname(each)) != "/":
                known.add(each)
        queue = [f"{git}/modules", f"{git}/worktrees"]
        while queue:
            here = queue.pop()
            if here in known or _changed(here) < self._before.since - _TICK:
                below = (f"{here}/{name}" for name in _names(here))
                queue.extend(path for path in below if os.path.isdir(path))
            else:
                self._put(here, "it holds more repositories than are looked through")

    def _part(self, path: str) -> None:
        """A part of a repository that was there, but without it."""
        if not os.path.lexists(path):
            return
        name = os.path.basename(path)
        if self._leading(path) != path:
            self._put(path, RUNS_CODE)
        elif name == "hooks":
            self._hooks(path)
        elif name == "config":
            self._config(os.path.dirname(path))
        elif name != "info" or not GIT_INFO.issuperset(_names(path)):
            self._put(path, RUNS_CODE)

    def _put(self, path: str, why: str, *, exchanged: bool = False) -> None:
        root = self._root(path)
        if not root or not os.path.lexists(path):
            return
        path = self._leading(path)
        welcome = self.approved | self.opened
        if not os.path.isdir(path) or os.path.islink(path):
            if path not in welcome:
                self._move(path, root, why, exchanged=exchanged)
        elif any(inside(each, path) for each in welcome):
            for each in files(path):
                if each not in welcome:
                    self._move(each, root, why)
        else:
            self._move(path, root, why, exchanged=exchanged)

    def _root(self, path: str) -> str:
        return next((root for root in self.roots if inside(path, root) and path != root), "")

    def _leading(self, path: str) -> str:
        """The path, or the link made in the run by which alone it is there."""
        root = above = self._root(path)
        for part in path[len(root) :].strip("/").split("/")[:-1]:
            above = f"{above.rstrip('/')}/{part}"
            if os.path.islink(above):
                return above if _born(above) >= self._before.since - _TICK else path
        return path

    def _move(self, path: str, root: str, why: str, *, exchanged: bool = False) -> None:
        if self.until and _born(path) > self.until:
            return
        sure = self._surely_new(path)
        if self.aside is None or not sure:
            if sure or _changed(path) >= self._before.since - _TICK:
                self.found.append(path)
            return
        if self._count >= MOST:
            self.over = False
            return
        self._count += 1
        try:
            if self.batch is None:
                self.batch = self.aside.open()
            self.batch.put(path, root, why, exchanged=exchanged)
        except OSError as error:
            self.failed.append(beside(path, root, error))
        else:
            self.moved.setdefault(why, []).append(path)

    def _surely_new(self, path: str) -> bool:
        """It was not there when everything was seen; where not, it was born in the run."""
        if self._before.complete and not any(inside(path, each) for each in self._before.shut):
            return True
        return _born(path) >= self._before.since - _TICK

    def _relink(self, path: str, target: str) -> None:
        """A link under a protected name cannot be shielded, so it is made again."""
        with contextlib.suppress(OSError):
            if os.readlink(path) == target:
                return
        count = self._count
        self._put(path, f"it was a link to {shown(target)}", exchanged=True)
        if self.aside is None or (os.path.lexists(path) and count == self._count):
            return
        above, name = os.path.split(path)
        with contextlib.suppress(OSError), beneath.directory(above, self.roots) as fd:
            os.symlink(target, name, dir_fd=fd)

    def _disarm(self, git: str) -> None:
        """A repository that is new stays, without hooks and with what only describes it."""
        self._hooks(f"{git}/hooks")
        self._config(git)

    def _config(self, git: str) -> None:
        config = f"{git}/config"
        if os.path.lexists(config) and (why := _unreadable(config)):
            self._put(config, why)
        with contextlib.suppress(OSError), beneath.directory(git, self.roots) as fd:
            data = beneath.read("config", fd, LARGEST + 1)
            if len(data) > LARGEST:  # by another process since
                self._put(config, "it is too large to be looked through")
                return
            text = data.decode("utf-8", "surrogateescape")
            kept, dropped = harmless(text, self._before.running.get(git, frozenset()))
            if dropped:
                self._put(
                    config, f"{', '.join(map(shown, dropped[:4]))} may run programs", exchanged=True
                )
                if not os.path.lexists(config):
                    beneath.write_new("config", fd, kept.encode("utf-8", "surrogateescape"))

    def _hooks(self, hooks: str) -> None:
        if os.path.islink(hooks) or not os.path.isdir(hooks):
            self._put(hooks, "hooks are not installed in the sandbox")
            return
        with contextlib.suppress(OSError), beneath.directory(hooks, self.roots) as fd:
            for name in sorted(os.listdir(fd)):
                if not name.endswith(".sample"):
                    self._put(f"{hooks}/{name}", "hooks are not installed in the sandbox")

    def _where(self, back: str) -> str:
        assert self.batch is not None
        if self.aside is not None and self.batch.place.startswith(f"{self.aside.place}/"):
            return f"`{back} {self.batch.number}` takes it back"
        return f"it lies in {self.batch.place}"

    def told(self, base: str, back: str) -> list[str]:
        """A sentence for each reason; `back` is the command that takes it back."""
        texts: list[str] = []
        for why, paths in self.moved.items():
            texts.append(
                f"put aside: {_shown(paths, base)}; {why}. The model may use Write or Edit, or"
                f" ask to run outside the sandbox; if it is yours or welcome, {self._where(back)}"
            )
        texts.extend(self.failed)
        if self.found:
            texts.append(
                f"new under a protected name: {_shown(self.found, base)}; such files can run code,"
                " look at them first"
            )
        return [spelled(text) for text in texts]


def _born(path: str) -> int:
    try:
        return born(path)
    except OSError:
        return 0


def _changed(path: str) -> int:
    try:
        return os.lstat(path).st_ctime_ns
    except OSError:
        return 0


def _shown(paths: Iterable[str], root: str) -> str:
    """The first few, as commands in the project write them; a directory by what it holds."""
    names = [shown(path.removeprefix(f"{root.rstrip('/')}/")) for path in dict.fromkeys(paths)]
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def _names(directory: str) -> list[str]:
    try:
        return os.listdir(directory)
    except OSError:
        return [""]  # no directory, or none that shows itself: nothing harmless


def files(top: str) -> Iterator[str]:
    """Everything below that is no directory, within bounds."""
    count, queue = 0, [top]
    while queue and count < _FILES:
        here = queue.pop()
        try:
            with os.scandir(here) as entries:
                for entry in entries:
                    count += 1
                    if entry.is_dir(follow_symlinks=False):
                        queue.append(entry.path)
                    else:
                        yield entry.path
        except OSError:
            continue


def _directories(sight: Sight, linked: Collection[str]) -> tuple[frozenset[str], frozenset[str]]:
    """All git directories, and those that hold more than is looked through."""
    found: set[str] = set()
    crowded: set[str] = set()
    for path in {*sight.repositories, *sight.bare, *linked}:
        gits = git_directories(path)
        found.update(gits.found)
        if not gits.whole:
            crowded.add(path)
    return frozenset(found), frozenset(crowded)


def _hooks(directories: frozenset[str]) -> Iterator[str]:
    for git in directories:
        for name in ("hooks", "config", "info"):
            yield f"{git}/{name}"


def _unwanted(directories: frozenset[str]) -> Iterator[str]:
    for git in directories:
        for name in GIT_UNWANTED:
            if os.path.lexists(f"{git}/{name}"):
                yield f"{git}/{name}"


def _unreadable(config: str) -> str:
    """Why a configuration cannot be looked through as a whole; '' where it can."""
    status = os.lstat(config)
    if os.path.islink(config):
        return "it was a link"
    if not stat.S_ISREG(status.st_mode) or not os.access(config, os.R_OK):
        return "it cannot be looked through"
    return "it is too large to be looked through" if status.st_size > LARGEST else ""


def _genuine(path: str, looked_at: Collection[str]) -> bool:
    """The `commondir` that git itself writes for a linked work tree."""
    if os.path.basename(path) != "commondir":
        return False
    if os.path.basename(os.path.dirname(os.path.dirname(path))) != "worktrees":
        return False
    if os.path.dirname(os.path.dirname(os.path.dirname(path))) not in looked_at:
        return False
    try:
        return read_regular(path, 64, follow=False).strip() == b"../.."
    except OSError:
        return False
