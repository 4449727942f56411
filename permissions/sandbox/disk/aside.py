"""Where what commands may not create is put: out of the project, numbered, to be taken back.

Nothing in here is ever deleted by us. A thing is written down before it is moved, so a kill in
between loses nothing; what is no longer here was taken back.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from gatewright.permissions.sandbox import naming
from gatewright.permissions.sandbox.disk import below_root as beneath
from gatewright.tools.system import private

ASIDE = "set-aside"  # below our own state
_LIST = "items.jsonl"
_COPIED = 64 * 1024 * 1024  # between disks; what is more stays where it is under another name
_ENTRIES = 2000
_SHOWN = 20
_SHUT = (errno.EACCES, errno.EPERM)


class Item(msgspec.Struct, frozen=True):
    """One thing that was put aside: from where, why, and where it lies now."""

    path: str
    root: str
    why: str
    when: float
    lies: str
    exchanged: bool = False  # something of ours took its place

    @property
    def there(self) -> bool:
        return os.path.lexists(self.lies)


class Batch(msgspec.Struct):
    """What one look put aside."""

    number: int
    place: str
    _count: int = 0

    def put(self, path: str, root: str, why: str, *, exchanged: bool = False) -> None:
        """Move it here from the directory `root` it lies below. Raises OSError."""
        above, name = os.path.split(path)
        with beneath.directory(above, (root,)) as fd:
            own = f"{self.place}/{self._count}"
            item = Item(path, root, why, time.time(), own, exchanged)
            self._note(item)
            if _moved(fd, name, own):
                return
            near = f"set-aside-{self.number}-{name}"[:255]
            self._note(Item(path, root, why, item.when, f"{above}/{near}", exchanged))
            _rename(fd, name, near, fd)

    def _note(self, item: Item) -> None:
        self._count += 1
        row = (item.path, item.root, item.why, item.when, item.lies, item.exchanged)
        with open(f"{self.place}/{_LIST}", "ab") as file:
            file.write(b"\n" + json.dumps(row).encode() + b"\n")  # the last may be torn: disk full

    def _lines(self) -> Iterator[bytes]:
        with contextlib.suppress(OSError), open(f"{self.place}/{_LIST}", "rb") as file:
            yield from file

    def items(self) -> tuple[Item, ...]:
        """All that were put here, also those that were taken back."""
        found: list[Item] = []
        for line in self._lines():
            with contextlib.suppress(ValueError, TypeError):
                row: Any = json.loads(line)
                found.append(Item(*row))
        return tuple(found)

    def restore(self) -> tuple[list[str], list[str]]:
        """Put everything back that can be; the paths, and a sentence for each that cannot."""
        back: list[str] = []
        stays: list[str] = []
        for item in self.items():
            if not item.there:
                continue
            try:
                self._back(item)
            except OSError as error:
                reason = error.strerror or str(error)
                stays.append(
                    f"{naming.shown(item.path)} was not taken back ({reason});"
                    f" it lies in {naming.shown(item.lies)}"
                )
            else:
                back.append(item.path)
                self._note(replace(item, lies=""))
        return back, stays

    def given_back(self) -> frozenset[str]:
        """What a person took back from here."""
        return frozenset(item.path for item in self.items() if not item.lies)

    def _back(self, item: Item) -> None:
        above, name = os.path.split(item.path)
        beneath.make(above, item.root)
        with beneath.directory(above, (item.root,)) as fd:
            if _exists(fd, name):
                if not item.exchanged:
                    raise FileExistsError(errno.EEXIST, "something is there now")
                os.unlink(name, dir_fd=fd)
            try:
                os.rename(item.lies, name, dst_dir_fd=fd)
            except OSError as error:
                if error.errno != errno.EXDEV:
                    raise
                shutil.move(item.lies, f"/proc/self/fd/{fd}/{name}")


class Aside(msgspec.Struct, frozen=True):
    """The place of all batches; made with the first."""

    place: str

    def open(self) -> Batch:
        """A new batch. Raises OSError where nothing can be written at all."""
        try:
            private.folder(Path(self.place))
            return self._next(self.place)
        except OSError:
            return self._next(tempfile.mkdtemp(prefix="gatewright-aside-"))

    def _next(self, place: str) -> Batch:
        number = max((batch.number for batch in self.batches()), default=0)
        while True:
            number += 1
            with contextlib.suppress(FileExistsError):
                os.mkdir(f"{place}/{number}", 0o700)
                return Batch(number, f"{place}/{number}")

    def batches(self) -> tuple[Batch, ...]:
        """The oldest first."""
        try:
            numbers = sorted(int(name) for name in os.listdir(self.place) if name.isdecimal())
        except OSError:
            return ()
        return tuple(Batch(number, f"{self.place}/{number}") for number in numbers)

    def waiting(self, roots: tuple[str, ...] = ()) -> tuple[tuple[Batch, tuple[Item, ...]], ...]:
        """What can be taken back, of these directories or of all."""
        found: list[tuple[Batch, tuple[Item, ...]]] = []
        for batch in self.batches():
            items = (item for item in batch.items() if not roots or item.root in roots)
            if there := tuple(item for item in items if item.there):
                found.append((batch, there))
        return tuple(found)

    def restore(self, number: str) -> tuple[list[str], list[str]]:
        """As `Batch.restore`. Raises ValueError where there is nothing of that number."""
        for batch, _ in self.waiting():
            if str(batch.number) == number:
                return batch.restore()
        numbers = ", ".join(str(batch.number) for batch, _ in self.waiting()) or "none"
        raise ValueError(f"Nothing is put aside as {number or 'that'}. There is: {numbers}.")


HEADS = ("put aside", "what", "why")


def shown(waiting: Iterable[tuple[Batch, tuple[Item, ...]]]) -> Iterator[tuple[str, str, str]]:
    """Rows for people: the number to name, the path, the reason."""
    for batch, items in waiting:
        for item in items[:_SHOWN]:
            yield str(batch.number), naming.shown(item.path), naming.spelled(item.why)
        if len(items) > _SHOWN:
            yield str(batch.number), f"and {len(items) - _SHOWN} more", ""


def sentences(aside: Aside, number: str, base: str = "") -> Iterator[str]:
    """Take a number back and say how it went; what lies in `base` by its path from there."""
    try:
        back, stays = aside.restore(number)
    except ValueError as error:
        yield str(error)
        return
    if back:
        more = f" and {len(back) - _SHOWN} more" if len(back) > _SHOWN else ""
        names = (naming.shown(path.removeprefix(f"{base}/")) for path in back[:_SHOWN])
        yield f"Taken back: {', '.join(names)}{more}."
    yield from (f"{text}." for text in stays)


def beside(path: str, root: str, error: OSError) -> str:
    """Without a place for it, as on a full disk, it gets another name where it lies; a sentence."""
    why = error.strerror or str(error)
    above, name = os.path.split(path)
    near, count = f"set-aside-{name}"[:240], 0
    try:
        with beneath.directory(above, (root,)) as fd:
            while _exists(fd, f"{near}{count or ''}"):
                count += 1
            near = f"{near}{count or ''}"
            _rename(fd, name, near, fd)
    except OSError:
        return f"{naming.shown(path)} could not be put aside ({why})"
    moved = f"it is called {naming.shown(near)} now"
    return f"{naming.shown(path)} could not be moved away ({why}); {moved}"


def _moved(fd: int, name: str, target: str) -> bool:
    """Moved out of the open directory; False when it lies on another disk and is too much."""
    try:
        _rename(fd, name, target, None)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
    else:
        return True
    source = f"/proc/self/fd/{fd}/{name}"
    if not _small(source):
        return False
    try:
        shutil.move(source, target)
    except (OSError, shutil.Error):
        return False
    return True


def _rename(fd: int, name: str, target: str, into: int | None) -> None:
    """Rename; a mode that a command took away is given back for it."""
    try:
        os.rename(name, target, src_dir_fd=fd, dst_dir_fd=into)
    except OSError as error:
        if error.errno not in _SHUT:
            raise
        beneath.unlock(f"/proc/self/fd/{fd}/.")
        with contextlib.suppress(OSError):
            beneath.unlock(f"/proc/self/fd/{fd}/{name}")
        os.rename(name, target, src_dir_fd=fd, dst_dir_fd=into)


def _small(path: str) -> bool:
    """Whether it is little enough to be copied, and nothing but files, directories and links."""
    size, count, queue = 0, 0, [path]
    try:
        while queue:
            here = queue.pop()
            status = os.lstat(here)
            count += 1
            size += status.st_size
            kind = stat.S_IFMT(status.st_mode)
            if kind not in (stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK):
                return False
            if count > _ENTRIES or size > _COPIED:
                return False
            if kind == stat.S_IFDIR:
                queue.extend(f"{here}/{name}" for name in os.listdir(here))
    except OSError:
        return False
    return True


def _exists(fd: int, name: str) -> bool:
    try:
        os.lstat(name, dir_fd=fd)
    except FileNotFoundError:
        return False
    return True
