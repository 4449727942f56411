"""What we remember of each work tree we made: outside of the project, where nobody else writes.

A tree that has no record here is somebody else's, and is never removed by us.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from gatewright.tools.system import private
from gatewright.tools.system.lifetimes import Lifetime
from gatewright.tools.system.regular import read_regular

LARGEST = 4 * 1024 * 1024
FOLDER = "worktrees"


class Copied(msgspec.Struct, frozen=True):
    """A file that was ignored by git and copied into the tree."""

    path: str
    size: int
    mtime: int


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """`base` is what was checked out; `made` when; `owner` who works in it now, if anybody."""

    slug: str
    path: str
    root: str  # the checkout it was made beside
    common: str  # the repository's directory
    branch: str  # the full name
    base: str
    made: float
    inode: tuple[int, int] = (0, 0)
    owner: Lifetime = Lifetime()
    agent: str = ""
    session: str = ""
    used: float = 0.0
    copied: tuple[Copied, ...] = ()
    links: tuple[tuple[str, str], ...] = ()  # name in the tree, where it leads
    sparse: tuple[str, ...] = ()
    by_hook: bool = False

    @property
    def tree(self) -> Path:
        return Path(self.path)

    @property
    def admin(self) -> Path:
        """Where git keeps what is this tree's own."""
        return Path(self.common) / "worktrees" / self.slug

    @property
    def short(self) -> str:
        return self.branch.removeprefix("refs/heads/")

    def held(self) -> bool:
        """Whether somebody works in it who still lives and is not this very process."""
        return self.owner.lives() and not self.owner.is_us()


class Records:
    """The records of one project, a file each."""

    def __init__(self, folder: Path) -> None:
        """`folder` is where the sessions of the project are kept."""
        self._folder = folder / FOLDER

    def get(self, slug: str) -> Record | None:
        """None where there is none, or none that can be read."""
        with contextlib.suppress(OSError, msgspec.DecodeError):
            data = read_regular(self._file(slug), LARGEST, follow=False)
            found = msgspec.json.decode(data, type=Record)
            return found if found.slug == slug else None
        return None

    def put(self, record: Record) -> None:
        """Whole or not at all."""
        file = self._file(record.slug)
        fresh = file.with_suffix(f".{os.getpid()}")
        private.write(fresh, msgspec.json.encode(record))
        fresh.replace(file)

    def drop(self, slug: str) -> None:
        self._file(slug).unlink(missing_ok=True)

    def all(self) -> Iterator[Record]:
        with contextlib.suppress(OSError):
            for file in sorted(self._folder.glob("*.json")):
                if (record := self.get(file.stem)) is not None:
                    yield record

    def lock(self, slug: str) -> Path:
        """The file to hold while this tree is made or removed."""
        private.folder(self._folder)
        return self._folder / f"{slug}.lock"

    def _file(self, slug: str) -> Path:
        return self._folder / f"{slug}.json"


def used_now(record: Record, owner: Lifetime) -> Record:
    return msgspec.structs.replace(record, owner=owner, used=time.time())
