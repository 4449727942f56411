"""Which files outside a project its instruction files may import, as the person approved."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from gatewright.agent.errors import GatewrightError

KEPT = 500


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
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with self._path.with_suffix(".lock").open("a", encoding="utf-8") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                everything = self._read()
                mine = dict.fromkeys([*everything.get(self._root, ()), *map(str, paths)])
                everything[self._root] = list(mine)[-KEPT:]
                fresh = self._path.with_suffix(".new")
                fresh.write_bytes(msgspec.json.encode(everything))
                fresh.chmod(0o600)
                fresh.replace(self._path)
        except OSError as error:
            raise GatewrightError(f"This cannot be kept: {error.strerror}.") from error
        self._known = None

    def _read(self) -> dict[str, list[str]]:
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=dict[str, list[str]])
        except FileNotFoundError:
            return {}
        except msgspec.DecodeError:
            self._path.replace(self._path.with_suffix(f".bad-{os.getpid()}"))
            return {}
        except OSError:
            return {}
