"""The one writer of what comes from elsewhere: into an empty directory, and nowhere beside it.

Whatever archive, tree or directory names an entry, it lands below that directory as a plain file,
a directory, or a link that stays inside; names that some file systems take for one are refused.
"""

from __future__ import annotations

import os
import shutil
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from gatewright.agent.plugins.sources.limits import Clock, SourceError

DEEP: Final = 40
NAME: Final = 255  # bytes
_LINK: Final = 1024  # characters of a link's target


class TreeWriter:
    """Writes entries as they come. `finish` makes the links, when nothing is written any more."""

    def __init__(self, into: Path, clock: Clock) -> None:
        self.files = 0
        self.bytes = 0
        self._into = into
        self._clock = clock
        self._links: dict[tuple[str, ...], str] = {}
        self._known: dict[str, tuple[str, ...]] = {}  # by how a careless file system sees them
        self._folders: set[tuple[str, ...]] = {()}

    def folder(self, name: str) -> None:
        if parts := _parts(name.rstrip("/")):
            self._make(parts)

    def file(self, name: str, pieces: Iterable[bytes], *, executable: bool = False) -> None:
        """The bytes as they come: no size that somebody promised counts."""
        path = self._path_of(name)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        fd = os.open(path, flags, 0o755 if executable else 0o644)
        try:
            for piece in pieces:
                self.bytes += len(piece)
                if self.bytes > self._clock.limits.bytes:
                    raise SourceError(f"It is larger than {self._clock.limits.amount}.")
                self._clock.left()
                rest = memoryview(piece)
                while rest:
                    rest = rest[os.write(fd, rest) :]
        finally:
            os.close(fd)

    def link(self, name: str, target: str) -> None:
        parts = _parts(name)
        self._take(parts)
        self._make(parts[:-1])
        lead = os.path.normpath("/".join((*parts[:-1], target)))
        if not target or target.startswith("/") or "\0" in target or len(target) > _LINK:
            raise SourceError(f"The link {name} leads out of it, to {target}.")
        if lead == ".." or lead.startswith("../"):
            raise SourceError(f"The link {name} leads out of it, to {target}.")
        self._links[parts] = target

    def finish(self) -> None:
        """Make the links, and see that each leads inside, through whatever others."""
        made = [(self._into.joinpath(*parts), target) for parts, target in self._links.items()]
        for path, target in made:
            path.symlink_to(target)
        root = os.path.realpath(self._into)
        for path, target in made:
            real = os.path.realpath(path)
            if real != root and not real.startswith(f"{root}/"):
                raise SourceError(f"The link {path.name} leads out of it, to {target}.")
            if ".git" in real[len(root) :].casefold().split("/"):
                raise SourceError(f"The link {path.name} leads into a repository's own files.")

    def _path_of(self, name: str) -> Path:
        parts = _parts(name)
        self._take(parts)
        self._make(parts[:-1])
        return self._into.joinpath(*parts)

    def _make(self, parts: tuple[str, ...]) -> None:
        """The directory, with all above it."""
        if parts in self._folders:
            return
        self._make(parts[:-1])
        self._take(parts)
        self._into.joinpath(*parts).mkdir(mode=0o755)
        self._folders.add(parts)

    def _take(self, parts: tuple[str, ...]) -> None:
        """A name that nobody has yet, in no spelling."""
        self._clock.left()
        self.files += 1
        if self.files > self._clock.limits.files:
            raise SourceError(f"It has more than {self._clock.limits.files:,} files.")
        key = folded("/".join(parts))
        before = self._known.setdefault(key, parts)
        if before is not parts:
            one, other = "/".join(before), "/".join(parts)
            if one == other:
                raise SourceError(f"It has {one} twice.")
            raise SourceError(f"{one} and {other} are the same file on some systems.")


def folded(name: str) -> str:
    """As a file system sees it that knows neither case nor forms of one letter."""
    if name.isascii():
        return name.lower()
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def emptied(folder: Path) -> None:
    """Take out whatever is in it; what cannot go stays."""
    for entry in os.scandir(folder):
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path, ignore_errors=True)
        else:
            os.unlink(entry.path)  # noqa: PTH108  an entry's path


def _parts(name: str) -> tuple[str, ...]:
    """The names of a path that stays below where it begins. Raises SourceError."""
    if not name or name.startswith("/") or "\\" in name:
        raise SourceError(f"It has an entry {name!r}, which is no path inside of it.")
    parts = tuple(name.removeprefix("./").split("/"))
    if len(parts) > DEEP:
        raise SourceError(f"It is more than {DEEP} directories deep.")
    for part in parts:
        if part in ("", ".", "..") or any(ord(letter) < 32 or letter == "\x7f" for letter in part):
            raise SourceError(f"It has an entry {name!r}, which is no path inside of it.")
        if len(os.fsencode(part)) > NAME:
            raise SourceError(f"It has a name of more than {NAME} bytes.")
        if folded(part) == ".git":
            raise SourceError(f"It has an entry {name!r}: a repository's own files are not taken.")
    return parts
