"""Which versions sessions run from: one file a session, locked for as long as it lives.

A version that nobody uses and that is not installed any more goes after two weeks.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from gatewright.agent.errors import GatewrightError
from gatewright.agent.plugins.store import Store
from gatewright.agent.plugins.tree import remove_tree
from gatewright.tools.system import private
from gatewright.tools.system.regular import open_regular, read_regular

DAYS = 14
MAX_BYTES = 256 * 1024


class Use:
    """Of one session. Closing it, or its end however it ends, lets go."""

    def __init__(self, store: Store, session: str) -> None:
        self._path = store.users / f"{session}.json"
        self._held: int | None = None

    def take(self, roots: Iterable[Path]) -> None:
        """These, besides what it took before: what runs already runs from there. Raises OSError."""
        private.folder(self._path.parent)
        if self._held is None:
            self._held = _locked(self._path)
        text = msgspec.json.encode(sorted({*_named(self._path), *map(str, roots)}))
        os.pwrite(self._held, text, 0)
        os.ftruncate(self._held, len(text))

    def close(self) -> None:
        if self._held is not None:
            with suppress(OSError):
                self._path.unlink()
            os.close(self._held)
            self._held = None


def _locked(path: Path) -> int:
    """Who sweeps may have taken the file for a dead one's and removed it just now."""
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    while True:
        held = os.open(path, flags, private.FILE)
        fcntl.flock(held, fcntl.LOCK_SH)  # nobody holds the other kind for longer than a look
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(held), path.lstat()):
                return held
        os.close(held)


def used(store: Store) -> frozenset[str]:
    """The directories that some session runs from."""
    return frozenset(root for path in _living(store.users) for root in _named(path))


def _living(folder: Path) -> Iterator[Path]:
    try:
        with os.scandir(folder) as entries:
            files = [Path(entry.path) for entry in entries if entry.name.endswith(".json")]
    except OSError:
        return
    for path in files:
        with suppress(OSError):
            if _held(path):
                yield path
            else:
                path.unlink()


def _held(path: Path) -> bool:
    with open_regular(path, follow=False) as file:
        try:
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False


def _named(path: Path) -> list[str]:
    try:
        return msgspec.json.decode(read_regular(path, MAX_BYTES, follow=False), type=list[str])
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return []


def sweep(store: Store, *, now: float | None = None) -> None:
    """Remove versions that are installed no more and that nobody has used for so long."""
    for _ in _living(store.users):
        pass  # the file of one that was killed goes
    try:
        installed = {str(store.root(each)) for each in store.lock.read().plugins.values()}
    except GatewrightError:
        return  # what is installed is not known
    before = (time.time() if now is None else now) - DAYS * 24 * 3600
    running: frozenset[str] | None = None
    for path in _versions(store.trees):
        if str(path) in installed or path.stat().st_mtime > before:
            continue
        running = used(store) if running is None else running
        if str(path) not in running:
            remove_tree(path)
            for parent in (path.parent, path.parent.parent):
                with suppress(OSError):
                    parent.rmdir()  # where it was the last


def _versions(trees: Path) -> Iterator[Path]:
    """`market/name/version` below the store."""
    return (path for path in trees.glob("*/*/*") if path.is_dir() and not path.is_symlink())
