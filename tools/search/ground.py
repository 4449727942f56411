"""What a search was judged for, held open: what it finds is looked up below that, never by path.

A searching program walks by names. While it runs, a directory may become a link that leads
elsewhere, so each name it reports is walked again from the open directory without following a
link, and where a directory on the way changed since the search began, it is not believed.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import msgspec

from gatewright.tools.files import fs
from gatewright.tools.files.disk import DISK
from gatewright.tools.files.near import missing
from gatewright.tools.protocol import ToolContext, ToolFailure
from gatewright.tools.system.exact import open_directory
from gatewright.tools.system.regular import open_regular

# Times of files lag behind the clock by a tick of the kernel, or are kept in whole seconds.
_LAG = 50_000_000
_COARSE_LAG = 2_500_000_000
_SECOND = 1_000_000_000
_STEP = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Seen(msgspec.Struct, frozen=True):
    """A regular file that really lies below; `moved`: something changed on the way to it."""

    changed: int
    moved: bool


class Ground:
    """The directory or the single file of a search; close it when the search is over."""

    def __init__(self, given: Path, ctx: ToolContext) -> None:
        """ToolFailure where nothing is, or neither a directory nor a regular file."""
        self.given = given
        self.real = fs.settled(given, ctx)
        self.file: BinaryIO | None = None
        self.fd = -1
        self.since = time.time_ns()
        try:
            self.fd = open_directory(self.real)
        except FileNotFoundError:
            raise missing(given, ctx) from None
        except NotADirectoryError:
            self.file = _only(given, self.real, ctx)
        except OSError as error:
            raise ToolFailure(f"Cannot search {given}: {error.strerror}.") from None

    def __enter__(self) -> Ground:
        return self

    def __exit__(self, *_: object) -> None:
        if self.file is not None:
            self.file.close()
        if self.fd >= 0:
            os.close(self.fd)

    @property
    def root(self) -> Path:
        """What the names of a search count from, as the call wrote it."""
        return self.given if self.file is None else self.given.parent

    @property
    def real_root(self) -> Path:
        return self.real if self.file is None else self.real.parent

    def begin(self) -> None:
        """A search begins now."""
        self.since = time.time_ns()

    def look(self, names: Iterable[bytes], *, times: bool = True) -> dict[bytes, Seen]:
        """What is known of each name; what is no regular file below is not among them.

        Without times only the directories are looked at: where none changed since the search
        began, what it took for a file is one still, and in the others all is opened anyhow.
        """
        with _Walk(self.fd, self.since) as walk:
            found = ((name, walk.seen(name, times=times)) for name in sorted(names))
            return {name: seen for name, seen in found if seen is not None}

    def open(self, names: Sequence[bytes]) -> dict[bytes, BinaryIO]:
        """The files themselves, for searching them whatever their names lead to by now."""
        found: dict[bytes, BinaryIO] = {}
        with _Walk(self.fd, self.since) as walk:
            for name in sorted(names):
                with suppress(OSError):
                    found[name] = walk.open(name)
        return found


def _only(given: Path, real: Path, ctx: ToolContext) -> BinaryIO:
    try:
        return DISK.opened(real)
    except FileNotFoundError:
        raise missing(given, ctx) from None


class _Walk:
    """Walks to names in their order, from an open directory; keeps the directories of one way."""

    def __init__(self, fd: int, since: int) -> None:
        self._since = since
        self._moved = [self._changed(fd)]
        self._fds = [fd]
        self._parts: list[bytes] = []
        self._lead: bytes | None = None  # where the last name was, and whether that is a place
        self._there = False

    def __enter__(self) -> _Walk:
        return self

    def __exit__(self, *_: object) -> None:
        self._leave(0)

    def seen(self, name: bytes, *, times: bool) -> Seen | None:
        lead, _, last = name.removeprefix(b"./").rpartition(b"/")
        if not self._at(lead):
            return None
        if not times:
            return Seen(0, self._moved[-1])
        try:
            info = os.stat(last, dir_fd=self._fds[-1], follow_symlinks=False)
        except OSError:
            return None
        if not stat.S_ISREG(info.st_mode):
            return None
        return Seen(info.st_mtime_ns, self._moved[-1])

    def open(self, name: bytes) -> BinaryIO:
        lead, _, last = name.removeprefix(b"./").rpartition(b"/")
        if not self._at(lead):
            raise FileNotFoundError(name)
        return open_regular(os.fsdecode(last), follow=False, dir_fd=self._fds[-1])

    def _at(self, lead: bytes) -> bool:
        """Go there; False where a link or nothing is on the way."""
        if lead == self._lead:
            return self._there
        self._lead = lead
        parts = lead.split(b"/") if lead else []
        same = 0
        while same < min(len(parts), len(self._parts)) and parts[same] == self._parts[same]:
            same += 1
        self._leave(same)
        self._there = b".." not in parts and self._enter(parts[same:])
        return self._there

    def _enter(self, parts: Sequence[bytes]) -> bool:
        for part in parts:
            try:
                fd = os.open(part, _STEP, dir_fd=self._fds[-1])
            except OSError:
                return False
            self._fds.append(fd)
            self._parts.append(part)
            self._moved.append(self._moved[-1] or self._changed(fd))
        return True

    def _leave(self, depth: int) -> None:
        while len(self._parts) > depth:
            self._parts.pop()
            self._moved.pop()
            os.close(self._fds.pop())

    def _changed(self, fd: int) -> bool:
        """Whether a name in the directory may have been exchanged since the search began."""
        at = os.fstat(fd).st_ctime_ns
        return at > self._since - (_LAG if at % _SECOND else _COARSE_LAG)
