"""Several files of one directory changed together: all of them or none, whatever dies meanwhile.

What is to become of each is on disk in a journal before the first is touched; whoever comes next
finishes it. What somebody else changed meanwhile stays theirs. Nothing goes through a link.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import msgspec

from gatewright.agent.errors import GatewrightError
from gatewright.tools.system import private
from gatewright.tools.system.regular import TooLarge, read_regular

JOURNAL: Final = ".journal.json"
MOST: Final = 16_000_000  # bytes of a journal
Contents = Mapping[str, bytes | None]  # None: there is no such file


class MemoryFailure(GatewrightError):
    """Why what is remembered cannot be read or written, and what to do."""


class _Edit(msgspec.Struct, frozen=True):
    name: str
    before: bytes | None
    after: bytes | None


def content(folder: Path, name: str, limit: int) -> bytes | None:
    """A file of the directory; None where there is none. Raises MemoryFailure, TooLarge."""
    try:
        return read_regular(folder / name, limit, follow=False)
    except FileNotFoundError:
        return None
    except TooLarge:
        raise
    except OSError as error:
        raise MemoryFailure(_refused(folder / name, error)) from None


def change(
    folder: Path, before: Contents, after: Contents, step: Callable[[str], object] = lambda _: None
) -> bool:
    """Have the files be `after`, if they are still `before`. Under the lock of the directory."""
    edits = [
        _Edit(name, before.get(name), data)
        for name, data in sorted(after.items())
        if before.get(name) != data
    ]
    if any(_now(folder, edit) != edit.before for edit in edits):
        return False
    if edits:
        _put(folder, JOURNAL, msgspec.json.encode(edits), step)
        _apply(folder, edits, step)
    return True


def finish(folder: Path, step: Callable[[str], object] = lambda _: None) -> None:
    """Do what a process that died had begun. Under the lock of the directory."""
    data = content(folder, JOURNAL, MOST)
    if data is None:
        return
    try:
        edits = msgspec.json.decode(data, type=list[_Edit])
    except (msgspec.DecodeError, RecursionError):  # replaced whole, so it was never ours
        raise MemoryFailure(
            f"{folder / JOURNAL} is not as it was written: look at it, and remove it."
        ) from None
    _apply(folder, edits, step)


def unfinished(folder: Path) -> bool:
    return os.path.lexists(folder / JOURNAL)


def _apply(folder: Path, edits: list[_Edit], step: Callable[[str], object]) -> None:
    for edit in edits:
        if "/" in edit.name or edit.name in ("", ".", "..", JOURNAL):
            raise MemoryFailure(f"{folder / JOURNAL} names {edit.name!r}, which is no file here.")
        if _now(folder, edit) != edit.before:
            continue  # done before, or changed by hand since
        if edit.after is None:
            (folder / edit.name).unlink(missing_ok=True)
        else:
            _put(folder, edit.name, edit.after, step)
        step(f"changed {edit.name}")
    (folder / JOURNAL).unlink(missing_ok=True)
    step("finished")


def _now(folder: Path, edit: _Edit) -> bytes | None:
    limit = max(len(edit.before or b""), len(edit.after or b"")) + 1
    try:
        return content(folder, edit.name, limit)
    except TooLarge:
        return b"\0other"


def _put(folder: Path, name: str, data: bytes, step: Callable[[str], object]) -> None:
    """The new text or the old one. A file that is left over on the way to it is written over."""
    aside = folder / f".{name.lstrip('.')}.new"
    try:
        aside.unlink(missing_ok=True)
        step(f"cleared {name}")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(aside, flags, private.FILE), "wb") as file:
            file.write(data[: len(data) // 2])
            file.flush()
            step(f"half of {name}")
            file.write(data[len(data) // 2 :])
            file.flush()
            os.fsync(file.fileno())
        step(f"written {name}")
        aside.replace(folder / name)
        step(f"put {name}")
    except OSError as error:
        with contextlib.suppress(OSError):
            aside.unlink(missing_ok=True)
        raise MemoryFailure(_refused(folder / name, error)) from None


def _refused(path: Path, error: OSError) -> str:
    with contextlib.suppress(OSError):
        if stat.S_ISLNK(path.lstat().st_mode):
            return f"{path} is a link, and nothing is read or written through it: remove it."
    return f"{path} cannot be used: {error.strerror or error}."
