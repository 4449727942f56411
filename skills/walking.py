"""What files of skills a place has right now. A place that did not change costs a stat for each.

What was seen before is compared by marks: a directory that has its old mark is not listed again,
a file that has its old mark is not read again.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from gatewright.skills.model import Diagnostic, Said
from gatewright.skills.places import SKILL, SKIPPED, Place

ENTRIES = 2_000  # of one place
DEPTH = 8  # of command files
UNSURE = 50_000_000  # ns in which a second change might leave the same time

# mtime, ctime, size and inode; none is equal to `NEVER`.
Mark = tuple[int, int, int, int]
NEVER: Mark = (0, 0, 0, 0)


class Listed(msgspec.Struct, frozen=True, array_like=True):
    """What lies in a directory: the names of directories and links, and of Markdown files."""

    mark: Mark
    folders: tuple[str, ...] = ()
    links: tuple[str, ...] = ()  # those of both that are links
    files: tuple[str, ...] = ()


class Filed(msgspec.Struct, frozen=True, array_like=True):
    """A file as it was read. `said` is None where it cannot be used."""

    mark: Mark
    name: str
    said: Said | None
    diagnostics: tuple[Diagnostic, ...] = ()
    size: int = 0
    held: bool = False  # it is broken now, and what it said before still counts


class Looked(msgspec.Struct, frozen=True, array_like=True):
    """A place at one moment: directories and files by their paths, in order."""

    folders: dict[str, Listed] = {}
    files: dict[str, Filed] = {}
    diagnostics: tuple[Diagnostic, ...] = ()


NOTHING = Looked()


class Candidate(NamedTuple):
    """A file that is there, and what its place calls it."""

    path: str
    name: str
    mark: Mark


Reads = Callable[[Place, Candidate, Filed | None], Filed]


def look(place: Place, before: Looked, read: Reads) -> Looked:
    """The same object where nothing changed."""
    walking = _Walking(place, before)
    files: dict[str, Filed] = {}
    for found in walking.files():
        old = before.files.get(found.path)
        same = old is not None and old.mark == found.mark != NEVER
        files[found.path] = old if same and old is not None else read(place, found, old)
    now = Looked(walking.folders, files, tuple(walking.diagnostics))
    unchanged = (
        files.keys() == before.files.keys()
        and all(before.files[path] is each for path, each in files.items())
        and walking.folders.keys() == before.folders.keys()
        and all(before.folders[path] is each for path, each in walking.folders.items())
        and now.diagnostics == before.diagnostics
    )
    return before if unchanged else now


class _Walking:
    def __init__(self, place: Place, before: Looked) -> None:
        self._place, self._before = place, before
        self.folders: dict[str, Listed] = {}
        self.diagnostics: list[Diagnostic] = []
        self._left = ENTRIES
        self._now = time.time_ns()

    def files(self) -> Iterator[Candidate]:
        top = self._place.folder
        if top.endswith(".md") and self._place.form == "command":
            yield from self._alone(top)
            return
        listed = self._list(top)
        if listed is None or not self._stays(top):
            return
        if self._place.form == "command":
            yield from self._commands(top, listed)
            return
        single = f"{top}/{SKILL}"
        if SKILL in listed.files and (mark := self._stat(single)) is not None:
            yield Candidate(single, self._place.called or top.rpartition("/")[2], mark)
            return
        yield from self._skills(top, listed, grouping=False)

    def _skills(self, folder: str, listed: Listed, *, grouping: bool) -> Iterator[Candidate]:
        """A directory each; one without SKILL.md groups those in it."""
        for name in listed.folders:
            path = f"{folder}/{name}"
            if not self._counts(path, name, listed):
                continue
            file = f"{path}/{SKILL}"
            if (mark := self._stat(file)) is not None:
                yield Candidate(file, name, mark)
                continue
            inner = self._list(path)
            if inner is None:
                continue
            self._misspelt(path, inner)
            if not grouping:
                yield from self._skills(path, inner, grouping=True)

    def _commands(self, folder: str, listed: Listed, lead: str = "") -> Iterator[Candidate]:
        """`git/sync.md` is git:sync."""
        for file in listed.files:
            path = f"{folder}/{file}"
            if not self._counts(path, file, listed):
                continue
            if (mark := self._stat(path)) is not None:
                yield Candidate(path, f"{lead}{file.removesuffix('.md')}", mark)
        for name in listed.folders if lead.count(":") < DEPTH else ():
            path = f"{folder}/{name}"
            if self._counts(path, name, listed) and (inner := self._list(path)) is not None:
                yield from self._commands(path, inner, f"{lead}{name}:")

    def _alone(self, file: str) -> Iterator[Candidate]:
        """A place that is one command file."""
        if self._stays(file) and (mark := self._stat(file)) is not None:
            yield Candidate(file, file.rpartition("/")[2].removesuffix(".md"), mark)

    def _misspelt(self, folder: str, listed: Listed) -> None:
        for name in listed.files:
            if name.casefold() == SKILL.casefold():
                told = f"it has to be named {SKILL}, in just these letters"
                self._say(Path(folder, name), told, f"Rename it to {SKILL}.", fatal=True)

    def _counts(self, path: str, name: str, listed: Listed) -> bool:
        if self._left <= 0:
            return False
        self._left -= 1
        if not self._left:
            told = f"it has more than {ENTRIES:,} entries, and the others are left out"
            self._say(Path(self._place.folder), told, "Keep only what is used there.")
        return name not in listed.links or self._stays(path)

    def _stays(self, path: str) -> bool:
        """Whether a path leads nowhere that this place may not reach."""
        inside = self._place.inside
        if not inside:
            return True
        real = os.path.realpath(path)
        if real == inside or real.startswith(f"{inside.rstrip('/')}/"):
            return True
        if real != path and os.path.exists(real):  # noqa: PTH110  texts throughout
            told = f"it leads to {real}, which is outside, and is not followed"
            self._say(Path(path), told, "Copy it, or trust the project.")
        return False

    def _list(self, folder: str) -> Listed | None:
        """What lies there; None where nothing can be listed."""
        try:
            info = os.stat(folder)  # noqa: PTH116  a Path for each costs as much again
        except OSError:
            return None
        if not stat.S_ISDIR(info.st_mode):
            return None
        mark = self._mark(info)
        before = self._before.folders.get(folder)
        if before is None or before.mark != mark or mark == NEVER:
            try:
                before = _scanned(folder, mark)
            except OSError as error:
                told = f"it cannot be read: {error.strerror or error}"
                self._say(Path(folder), told, "", fatal=True)
                return None
        self.folders[folder] = before
        return before

    def _stat(self, path: str) -> Mark | None:
        try:
            info = os.stat(path)  # noqa: PTH116
        except OSError:
            return None
        return None if stat.S_ISDIR(info.st_mode) else self._mark(info)

    def _mark(self, info: os.stat_result) -> Mark:
        """NEVER for what changed a moment ago: it is looked at again."""
        if -UNSURE < self._now - info.st_ctime_ns < UNSURE:
            return NEVER
        return info.st_mtime_ns, info.st_ctime_ns, info.st_size, info.st_ino

    def _say(self, file: Path, text: str, fix: str, *, fatal: bool = False) -> None:
        self.diagnostics.append(Diagnostic(file, 0, text, fix, fatal))


def _scanned(folder: str, mark: Mark) -> Listed:
    """By name. Raises OSError."""
    folders: list[str] = []
    links: list[str] = []
    files: list[str] = []
    with os.scandir(folder) as entries:
        for count, entry in enumerate(entries):
            if count > ENTRIES * 5:
                break
            name = entry.name
            if name.startswith(".") or name in SKIPPED:
                continue
            is_link = entry.is_symlink()
            if entry.is_dir(follow_symlinks=False):
                folders.append(name)
            elif name.endswith((".md", ".MD")):
                files.append(name)
            elif is_link:
                folders.append(name)
            else:
                continue
            if is_link:
                links.append(name)
    return Listed(mark, tuple(sorted(folders)), tuple(sorted(links)), tuple(sorted(files)))
