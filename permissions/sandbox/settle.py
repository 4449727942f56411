"""After a run: what appeared under a protected name is taken out of the way and told.

Names in new directories cannot be blocked beforehand. Nothing is deleted: it moves to a place of
ours. A new repository stays, without what in it would run a program.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from gatewright.permissions.sandbox import beneath
from gatewright.permissions.sandbox.gitconfig import harmless
from gatewright.permissions.sandbox.guarded import GIT_UNWANTED
from gatewright.permissions.sandbox.placeholders import is_placeholder
from gatewright.permissions.sandbox.repository import believed, git_directories
from gatewright.permissions.sandbox.survey import Sight

_CONFIG = 256 * 1024


@dataclass(frozen=True, slots=True)
class Before:
    """What was there before a run, in the terms of what is looked at after it."""

    guarded: frozenset[str]
    repositories: frozenset[str]
    directories: frozenset[str]  # git directories, submodules' and linked work trees' included
    unwanted: frozenset[str]
    links: dict[str, str] = field(default_factory=dict[str, str])

    @classmethod
    def of(cls, sight: Sight) -> Before:
        directories = frozenset(_directories(sight))
        named = (*sight.guarded, *sight.repositories, *_hooks(directories))
        return cls(
            frozenset(path for path in sight.guarded if not is_placeholder(path)),
            sight.repositories,
            directories,
            frozenset(_unwanted(directories)),
            {path: os.readlink(path) for path in named if os.path.islink(path)},
        )


@dataclass(slots=True)
class Settlement:
    """Moves aside what must not stay; `told` says what, one sentence each."""

    aside: Callable[[], Path]  # makes the directory things are moved to, when first needed
    fine: Callable[[str], bool]  # somebody with the right to do so made this path
    roots: tuple[str, ...]
    told: list[str] = field(default_factory=list[str])

    def compare(self, before: Before, after: Sight) -> None:
        now = Before.of(after)
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
        if self.fine(path) or not os.path.lexists(path) or is_placeholder(path):
            return
        target = _free(self.aside(), path)
        above, name = os.path.split(path)
        try:
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

    def _relink(self, path: str, target: str) -> None:
        """A link under a protected name cannot be covered, so it is put back."""
        with contextlib.suppress(OSError):
            if os.readlink(path) == target:
                return
        self._move(path, f"it was a link to {target}")
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
                beneath.write_new("config", fd, kept.encode("utf-8", "surrogateescape"))


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
    stem = path.strip("/").replace("/", "%")[-180:]
    for number in range(1000):
        target = place / (f"{stem}.{number}" if number else stem)
        if not os.path.lexists(target):
            return str(target)
    return str(place / f"{stem}.{os.getpid()}")
