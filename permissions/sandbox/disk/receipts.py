"""What was there before the commands that run now, on disk: for the next start if we are killed.

A receipt belongs to who holds its lock, which ends with the process whatever ended it. One that is
empty says that nothing runs; its time, once it is not zero, says when its owner was gone.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from gatewright.permissions.paths import inside
from gatewright.permissions.sandbox.disk.covered import Mark, is_replaced
from gatewright.permissions.sandbox.disk.named_files import names_in
from gatewright.tools.system import private

RECEIPTS = "sandbox"  # below our own state
_MOST = 64 * 1024 * 1024


class Receipt(msgspec.Struct, eq=False):
    """Our own; `place` None: there is nowhere to keep one."""

    place: Path | None
    path: str = ""
    _fd: int = -1

    def write(self, data: bytes) -> None:
        """Something is about to run, and this was there."""
        with contextlib.suppress(OSError):
            if self._fd < 0 and not self._open():
                return
            os.ftruncate(self._fd, 0)
            os.pwrite(self._fd, data, 0)
            os.utime(self._fd, (0, 0))

    def clear(self) -> None:
        """Nothing runs, and all was looked at."""
        if self._fd >= 0:
            with contextlib.suppress(OSError):
                os.ftruncate(self._fd, 0)

    def close(self) -> None:
        if self._fd >= 0:
            with contextlib.suppress(OSError):
                if os.fstat(self._fd).st_size == 0:
                    os.unlink(self.path)
            os.close(self._fd)
            self._fd = -1

    def _open(self) -> bool:
        if self.place is None:
            return False
        private.folder(self.place)
        for number in range(1000):
            path = f"{self.place}/{os.getpid()}-{number}"
            try:
                fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            except FileExistsError:
                continue
            fcntl.flock(fd, fcntl.LOCK_EX)
            if os.fstat(fd).st_nlink:  # else a start took it for abandoned in between
                self.path, self._fd = path, fd
                return True
            os.close(fd)
        return False


class _Going(msgspec.Struct, frozen=True):
    """What the commands of one receipt may write, and what in there is covered in all of them."""

    writable: tuple[str, ...] = ()
    covered: dict[str, Mark] = msgspec.field(default_factory=dict[str, Mark])

    @classmethod
    def read(cls, data: bytes) -> _Going:
        """One that is torn says nothing: its commands begin when it is whole."""
        import json  # noqa: PLC0415  lazy: 3 ms, and only while somebody's command runs

        try:
            _, place, shown = json.loads(data.partition(b"\n")[2])
            covered = shown["marks"].items() if place["covers"] else ()
            return cls(tuple(place["writable"]), {path: tuple(mark) for path, mark in covered})
        except (ValueError, LookupError, TypeError, AttributeError):
            return cls()

    def may_make(self, path: str) -> bool:
        if not any(inside(path, place) for place in self.writable):
            return False
        return not any(
            inside(path, each) and not is_replaced(each, mark)
            for each, mark in self.covered.items()
        )


class Elsewhere(msgspec.Struct, eq=False):
    """What commands of other sessions may be writing: their receipts say where they run."""

    state: Path
    _known: dict[str, tuple[tuple[int, int, int], _Going]] = msgspec.field(
        default_factory=dict[str, "tuple[tuple[int, int, int], _Going]"]
    )

    def settled(self, path: Path) -> bool:
        """Whether no command of any session can have made this without its being looked after."""
        going = tuple(self._going())
        texts = (str(path), os.path.realpath(path)) if going else ()
        return not any(one.may_make(text) for one in going for text in texts)

    def _going(self) -> Iterator[_Going]:
        place = self.state / RECEIPTS
        for name in names_in(place):
            with contextlib.suppress(OSError):
                found = os.lstat(place / name)
                key = found.st_ino, found.st_ctime_ns, found.st_size
                known = self._known.get(name)
                if found.st_size and (known is None or known[0] != key):
                    known = self._known[name] = key, _Going.read((place / name).read_bytes())
                if found.st_size and known is not None:
                    yield known[1]


def abandoned(place: Path) -> Iterator[tuple[bytes, int]]:
    """What a killed process wrote down, and when it was gone in nanoseconds; 0: not known.

    Each is removed when the caller asks for the next.
    """
    for name in names_in(place):
        with contextlib.suppress(OSError):
            fd = os.open(place / name, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
            with os.fdopen(fd, "rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if data := file.read(_MOST):
                    yield data, os.fstat(fd).st_mtime_ns
                os.unlink(place / name)


def recovered(state: Path) -> list[str]:
    """Put aside what commands of killed sessions left; what to tell. `state` is our own."""
    told: list[str] = []
    look: Callable[[Path, bytes, int], list[str]] | None = None
    for data, gone in abandoned(state / RECEIPTS):
        if look is None:
            from gatewright.permissions.sandbox.disk.keeper import (  # noqa: PLC0415  lazy: 10 ms, rare
                look_again,
            )

            look = look_again
        told.extend(look(state, data, gone))
    return told
