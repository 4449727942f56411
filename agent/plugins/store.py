"""Where installed plugins lie: each version is a directory that is made aside and renamed whole.

What is killed on the way leaves the old state; what runs is what the digest in the lock says.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from gatewright.agent.errors import GatewrightError
from gatewright.agent.plugins.lock_file import LockFile
from gatewright.agent.plugins.record import Record
from gatewright.agent.plugins.tree import HISTORY, Tree, remove_tree, tree_of
from gatewright.tools.system import private
from gatewright.tools.system.locks import let_go, taken
from gatewright.tools.system.regular import read_regular

SEEN_BYTES = 1024 * 1024
SEEN = 2_000


class Store:
    """`plugins/` of our own home. Making one looks at nothing."""

    def __init__(self, home: Path) -> None:
        self.folder = home / "plugins"
        self.lock = LockFile(self.folder / "lock.json")
        self.trees = self.folder / "store"
        self.users = self.folder / "users"
        self._aside = self.folder / "aside"
        self._seen = self.folder / "seen.json"

    def data(self, id: str) -> Path:
        """What a plugin may keep for itself; it outlives its versions."""
        return self.folder / "data" / id

    def root(self, record: Record) -> Path:
        """Where the plugin is. Raises GatewrightError for a record that leads elsewhere."""
        if record.linked:
            return Path(record.folder)
        path = Path(record.folder)
        if not record.folder or path.is_absolute() or ".." in path.parts:
            raise GatewrightError(f"{self.lock.path}: {record.id} has no folder of its own.")
        return self.trees / path

    @contextmanager
    def aside(self) -> Generator[Path]:
        """A private directory to fetch into; nothing of it is left afterwards."""
        private.folder(self._aside)
        self._clean()
        folder, lock, held = self._own()
        try:
            folder.mkdir(mode=private.FOLDER)
            yield folder
        finally:
            remove_tree(folder)
            let_go(lock, held)

    def _own(self) -> tuple[Path, Path, int]:
        """A new name, with its lock: who cleans at this moment may hold one not held yet."""
        while True:
            folder = self._aside / secrets.token_hex(8)
            lock = folder.with_suffix(".lock")
            if (held := taken(lock)) is not None:
                return folder, lock, held

    def _clean(self) -> None:
        """What a killed process left: nobody holds its lock."""
        with os.scandir(self._aside) as entries:
            left = [Path(entry.path) for entry in entries if entry.name[:1] != "."]
        for path in left:
            folder, lock = path.with_suffix(""), path.with_suffix(".lock")
            with suppress(OSError):
                if (held := taken(lock)) is not None:
                    remove_tree(folder)
                    let_go(lock, held)

    def take_in(self, tree: Tree, record: Record) -> None:
        """Rename a finished tree to its place. Raises OSError; a whole one that is there stays."""
        target = self.root(record)
        private.folder(target.parent)
        if target.exists():
            if self._is(target, record.digest):
                return
            with self.aside() as away:
                target.rename(away / "broken")
                tree.root.rename(target)
            return
        try:
            tree.root.rename(target)
        except OSError:
            if not self._is(target, record.digest):  # another process was there first
                raise

    def _is(self, folder: Path, digest: str) -> bool:
        try:
            return tree_of(folder).digest() == digest
        except GatewrightError:
            return False

    # what runs is what the digest says

    def wrong(self, record: Record) -> str:
        """Why the tree is not what was agreed to; empty where it is."""
        return self.proved(record)[0]

    def proved(self, record: Record) -> tuple[str, str]:
        """The same, and the stamp of the tree that is. Reads it only if it must."""
        try:
            root = self.root(record)
            if not root.is_dir():
                return f"its directory {root} is gone", ""
            tree = tree_of(root, _history(record))
            stamp, known = tree.stamp, self._stamps().get(str(root))
            if known == [stamp, record.digest]:
                return "", stamp
            if tree.digest() != record.digest:
                return "its files are not those that you agreed to", ""
        except GatewrightError as error:
            return str(error).removesuffix("."), ""
        self._keep(str(root), stamp, record.digest)
        return "", stamp

    def _stamps(self) -> dict[str, list[str]]:
        try:
            data = read_regular(self._seen, SEEN_BYTES)
            return msgspec.json.decode(data, type=dict[str, list[str]])
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            return {}

    def _keep(self, root: str, stamp: str, digest: str) -> None:
        """It only saves reading again, so that nobody waits for it or hears of a failure."""
        from gatewright.agent.settings.edit import replace  # noqa: PLC0415  lazy: 9 ms

        stamps = {path: each for path, each in self._stamps().items() if Path(path).is_dir()}
        stamps[root] = [stamp, digest]
        kept = dict(list(stamps.items())[-SEEN:])
        with suppress(OSError):
            replace(self._seen, msgspec.json.encode(kept).decode())


def _history(record: Record) -> frozenset[str]:
    return HISTORY if record.linked else frozenset()
