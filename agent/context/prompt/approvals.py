"""Which files outside a project its instruction files may import, as the person approved."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from gatewright.agent.errors import GatewrightError
from gatewright.tools.system import private
from gatewright.tools.system.regular import read_regular

KEPT = 500
MAX_BYTES = 4 * 1024 * 1024


class Approvals:
    """State the program writes. A file that cannot be read approves nothing and is kept aside."""

    def __init__(self, state: Path, root: Path) -> None:
        self._path = state / "imports.json"
        self._root = str(root)
        self._known: frozenset[str] | None = None

    def __call__(self, path: Path) -> bool:
        if self._known is None:
            self._known = frozenset(self._read().get(self._root, ()))
        return str(path) in self._known

    def add(self, paths: Sequence[Path]) -> None:
        """Raises GatewrightError when it cannot be kept."""
        try:
            private.folder(self._path.parent)
            with open(self._path.with_suffix(".lock"), "ab", opener=private.opener) as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                everything = self._read()
                mine = dict.fromkeys([*everything.get(self._root, ()), *map(str, paths)])
                everything[self._root] = list(mine)[-KEPT:]
                fresh = self._path.with_suffix(".new")
                private.write(fresh, msgspec.json.encode(everything))
                fresh.replace(self._path)
        except OSError as error:
            raise GatewrightError(f"This cannot be kept: {error.strerror}.") from error
        self._known = None

    def _read(self) -> dict[str, list[str]]:
        try:
            return msgspec.json.decode(
                read_regular(self._path, MAX_BYTES), type=dict[str, list[str]]
            )
        except FileNotFoundError:
            return {}
        except msgspec.DecodeError:
            self._path.replace(self._path.with_suffix(f".bad-{os.getpid()}"))
            return {}
        except OSError:
            return {}
