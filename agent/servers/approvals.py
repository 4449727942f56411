"""What the person said of servers: approvals by project and signature, and which are off.

Kept outside every project. What was approved is one text: a changed definition is asked about anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

import msgspec

from gatewright.agent.settings.layers.settled import MAX_BYTES
from gatewright.agent.settings.trust import trust_key
from gatewright.tools.system.regular import read_regular

Said: TypeAlias = Literal["use", "sandbox", "never", ""]
APPROVED, OFF = "approved", "off"


class ServerAnswers:
    """`state/mcp.json`. A file that cannot be read approves nothing."""

    def __init__(self, state: Path) -> None:
        self.path = state / "mcp.json"

    def said(self, root: Path, signature: str) -> Said:
        entry: object = _table(self._project(root).get(APPROVED)).get(signature)
        word = _table(entry).get("answer")
        return word if word in ("use", "sandbox", "never") else ""

    def off(self, root: Path) -> frozenset[str]:
        names = self._project(root).get(OFF)
        listed = cast("list[object]", names) if isinstance(names, list) else []
        return frozenset(name for name in listed if isinstance(name, str))

    def keep(self, root: Path, signature: str, name: str, answer: Said) -> None:
        """Raises SettingsError."""
        self._change(root, APPROVED, signature, {"name": name, "answer": answer})

    def switch(self, root: Path, name: str, *, on: bool) -> None:
        """Raises SettingsError."""
        names = self.off(root) - {name} if on else self.off(root) | {name}
        self._change(root, OFF, "", sorted(names))

    def forget(self, root: Path) -> None:
        """All that was said of the servers of this project. Raises SettingsError."""
        from gatewright.agent.settings.edit import edit, section  # noqa: PLC0415  lazy: 9 ms

        key = str(trust_key(root))
        edit(self.path, lambda values: section(self.path, values, "projects").pop(key, None))

    def _change(self, root: Path, part: str, key: str, value: object) -> None:
        from gatewright.agent.settings.edit import edit, section  # noqa: PLC0415  lazy: 9 ms

        def change(values: dict[str, Any]) -> None:
            inside = section(self.path, values, "projects", str(trust_key(root)))
            if key:
                section(self.path, inside, part)[key] = value
            else:
                inside[part] = value

        edit(self.path, change)

    def _project(self, root: Path) -> Mapping[str, Any]:
        try:
            values: object = msgspec.json.decode(read_regular(self.path, MAX_BYTES))
        except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return {}
        return _table(_table(_table(values).get("projects")).get(str(trust_key(root))))


def _table(value: object) -> Mapping[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
