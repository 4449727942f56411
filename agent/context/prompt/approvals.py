"""Which files outside a project its instruction files may import, as the person approved."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

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
        from gatewright.agent.settings.edit import edit  # noqa: PLC0415  lazy: 9 ms, on a yes only

        def change(values: dict[str, Any]) -> None:
            mine = dict.fromkeys([*values.get(self._root, ()), *map(str, paths)])
            values[self._root] = list(mine)[-KEPT:]

        self._read()  # what cannot be read is put aside first
        edit(self._path, change)
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
