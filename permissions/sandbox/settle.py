"""After a run: what appeared under a protected name is told, or taken out of the way.

Names in new directories cannot be blocked beforehand. In a session others work in the same place:
nothing is touched. A command that has its run to itself answers for what came about in it: that
moves to a place of ours, and a new repository stays without what in it would run a program.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gatewright.permissions.paths import inside
from gatewright.permissions.sandbox import beneath
from gatewright.permissions.sandbox.born import born
from gatewright.permissions.sandbox.gitconfig import harmless
from gatewright.permissions.sandbox.guarded import GIT_UNWANTED
from gatewright.permissions.sandbox.placeholders import is_placeholder
from gatewright.permissions.sandbox.repository import believed, git_directories
from gatewright.permissions.sandbox.survey import Sight

_CONFIG = 256 * 1024
_TICK = 20_000_000  # ns: a disk's clock is a little behind
_NAMED = 5


@dataclass(frozen=True, slots=True)
class Before:
    """What was there before a run, in the terms of what is looked at after it."""

    guarded: frozenset[str]
    repositories: frozenset[str]
    directories: frozenset[str]  # git directories, submodules' and linked work trees' included
    unwanted: frozenset[str]
    complete: bool = True
    links: dict[str, str] = field(default_factory=dict[str, str])
    since: int = field(default_factory=time.time_ns)

    @classmethod
    def of(cls, sight: Sight) -> Before:
        directories = frozenset(_directories(sight))
        named = (*sight.guarded, *sight.repositories, *_hooks(directories))
        return cls(
            frozenset(path for path in sight.guarded if not is_placeholder(path)),
            sight.repositories,
            directories,
            frozenset(_unwanted(directories)),
            sight.complete,
            {path: os.readlink(path) for path in named if os.path.islink(path)},
        )


def own_places(roots: tuple[str, ...], home: str) -> tuple[str, ...]:
    """Roots that are one thing the person works on: not the whole disk, not a whole home."""
    return tuple(root for root in roots if not inside(home, root))


@dataclass(slots=True)
class Settlement:
    """Finds what a run may have made; `told` says what was moved, one sentence each."""

    fine: Callable[[str], bool]  # somebody with the right to do so made this path
    roots: tuple[str, ...]
    aside: Callable[[], Path] | None = None  # makes where things are moved to; None: nothing moves
    told: list[str] = field(default_factory=list[str])
    found: list[str] = field(default_factory=list[str])  # paths that stay where they are
    _before: Before | None = None

    def compare(self, before: Before, after: Sight) -> None:
        self._before, now = before, Before.of(after)
        for path in sorted(now.guarded - before.guarded):
            self._move(path, "protected names are not created in the sandbox")
        for path, target in before.links.items():
            self._relink(path, target)
        for path in sorted(now.repositories - before.repositories):
            if not believed(path, self.roots):
                self._move(path, "it names a repository elsewhere")
        for path in sorted(now.directories - before.directories):
            if os.path.isdir(path):
                self._disarm(path)
        for path in sorted(now.unwanted - before.unwanted):
            if os.path.lexists(path) and not _genuine(path):
                self._move(path, "it would redirect git")

    def _move(self, path: str, why: str) -> None:
        if not any(inside(path, root) for root in self.roots) or self.fine(path):
            return
        if not os.path.lexists(path) or is_placeholder(path):
            return
        if self.aside is None or not self._changed(path):
            if self._new(path):
                self.found.append(path)
            return
        above, name = os.path.split(path)
        try:
            target = _free(self.aside(), path)
            with beneath.directory(above, self.roots) as fd:
                try:
                    os.rename(name, target, src_dir_fd=fd)
                except OSError as error:
                    if error.errno != errno.EXDEV:
                        raise
                    shutil.move(f"/proc/self/fd/{fd}/{name}", target)
        except (OSError, shutil.Error) as error:
            self.told.append(f"{path} could not be moved away ({error}): look at it yourself.")
            return
        self.told.append(f"{path} was moved to {target}: {why}.")

    def _new(self, path: str) -> bool:
        """Born in the run, or surely not there before it."""
        assert self._before is not None
        if self._before.complete:
            return True
        try:
            return born(path) >= self._before.since - _TICK
        except OSError:
            return False

    def _changed(self, path: str) -> bool:
        """Proof enough to move it: born in the run; or new here, and linked or renamed in it."""
        assert self._before is not None
        since = self._before.since - _TICK
        try:
            return born(path) >= since or (
                self._before.complete and os.lstat(path).st_ctime_ns >= since
            )
        except OSError:
            return False

    def _relink(self, path: str, target: str) -> None:
        """A link under a protected name cannot be covered, so it is put back."""
        with contextlib.suppress(OSError):
            if os.readlink(path) == target:
                return
        self._move(path, f"it was a link to {target}")
        if self.aside is None:
            return
        above, name = os.path.split(path)
        with contextlib.suppress(OSError), beneath.directory(above, self.roots) as fd:
            os.symlink(target, name, dir_fd=fd)

    def _disarm(self, git: str) -> None:
        hooks = f"{git}/hooks"
        if os.path.islink(hooks):
            self._move(hooks, "hooks are not installed in the sandbox")
        with contextlib.suppress(OSError), beneath.directory(hooks, self.roots) as fd:
            for name in sorted(os.listdir(fd)):
                if not name.endswith(".sample"):
                    self._move(f"{hooks}/{name}", "hooks are not installed in the sandbox")
        config = f"{git}/config"
        if os.path.islink(config):
            self._move(config, "it was a link")
        with contextlib.suppress(OSError), beneath.directory(git, self.roots) as fd:
            text = beneath.read("config", fd, _CONFIG).decode("utf-8", "surrogateescape")
            kept, dropped = harmless(text)
            if dropped and not self.fine(config):
                self._move(config, f"{', '.join(dropped[:4])} may run programs")
                if os.path.lexists(config):
                    return
                beneath.write_new("config", fd, kept.encode("utf-8", "surrogateescape"))


def made(paths: Sequence[str], root: str) -> str:
    """What the person and the model are told of paths that stay where they are."""
    files: list[str] = []
    for path in dict.fromkeys(paths):
        inner: list[str] = []
        if os.path.isdir(path) and not os.path.islink(path):
            with contextlib.suppress(OSError):
                inner = [f"{path}/{name}" for name in sorted(os.listdir(path))]
        files.extend(inner or (path,))
    shown = [path.removeprefix(root.rstrip("/") + "/") for path in files[:_NAMED]]
    more = f" and {len(files) - _NAMED} more" if len(files) > _NAMED else ""
    return (
        f"made while the command ran: {', '.join(shown)}{more}; such files can run code, look at"
        " them first"
    )


def _directories(sight: Sight) -> Iterator[str]:
    for path in sight.repositories:
        yield from git_directories(path)
    yield from sight.bare


def _hooks(directories: frozenset[str]) -> Iterator[str]:
    for git in directories:
        for name in ("hooks", "config", "info"):
            yield f"{git}/{name}"


def _unwanted(directories: frozenset[str]) -> Iterator[str]:
    for git in directories:
        for name in GIT_UNWANTED:
            if os.path.lexists(f"{git}/{name}"):
                yield f"{git}/{name}"


def _genuine(path: str) -> bool:
    """The `commondir` that git itself writes for a linked work tree."""
    if os.path.basename(path) != "commondir":
        return False
    if os.path.basename(os.path.dirname(os.path.dirname(path))) != "worktrees":
        return False
    try:
        return not os.path.islink(path) and Path(path).read_bytes().strip() == b"../.."
    except OSError:
        return False


def _free(place: Path, path: str) -> str:
    """The same path below `place`, with a number when it is taken."""
    whole = place / path.lstrip("/")
    whole.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    for number in range(1000):
        target = whole.with_name(f"{whole.name}.{number}") if number else whole
        if not os.path.lexists(target):
            return str(target)
    return str(whole.with_name(f"{whole.name}.{os.getpid()}"))
