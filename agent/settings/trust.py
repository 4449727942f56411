"""Which projects the person trusts: kept outside every project, by the real path of its root.

Worktrees inherit from their repository, and only if the repository knows them. `/`, the home
directory and what lies above it are never trusted wholesale.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from gatewright.agent.errors import SettingsError
from gatewright.agent.settings.layers.settled import MAX_BYTES
from gatewright.agent.settings.paths import Places, user_home
from gatewright.tools.system.regular import head_of, read_regular
from gatewright.tools.system.untyped_json import obj

MAX_LINK_BYTES = 8192


class TrustStore:
    """The list of trusted roots in one state directory. A broken list trusts nothing."""

    def __init__(self, places: Places, env: Mapping[str, str]) -> None:
        self.path = places.state / "trust.json"
        self._home = user_home(env)

    def trusts(self, root: Path) -> bool:
        key = trust_key(root)
        return not self._too_wide(key) and str(key) in self.roots()

    def roots(self) -> dict[str, Any]:
        """Trusted roots, with when they were added."""
        try:
            values: object = msgspec.json.decode(read_regular(self.path, MAX_BYTES))
        except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return {}
        return obj(obj(values).get("trusted"))

    def add(self, root: Path) -> Path:
        """Trust the project; returns the root that is trusted from now on."""
        from gatewright.agent.settings.edit import edit, section  # noqa: PLC0415  lazy: 9 ms

        key = trust_key(root)
        if self._too_wide(key):
            raise SettingsError(f"{key} is too wide to be trusted as a whole: trust one project.")
        now = datetime.now(UTC).isoformat(timespec="seconds")

        def change(values: dict[str, Any]) -> None:
            section(self.path, values, "trusted")[str(key)] = {"addedAt": now}

        edit(self.path, change)
        return key

    def remove(self, root: Path) -> bool:
        """Trust it no longer; False when it was not trusted."""
        from gatewright.agent.settings.edit import edit, section  # noqa: PLC0415  lazy: 9 ms

        key = str(trust_key(root))
        if key not in self.roots():
            return False

        def change(values: dict[str, Any]) -> None:
            section(self.path, values, "trusted").pop(key, None)

        edit(self.path, change)
        return True

    def _too_wide(self, key: Path) -> bool:
        home = Path(os.path.realpath(self._home))
        return key == home or key in home.parents


def trust_key(root: Path) -> Path:
    """The real path of the repository that `root` is the work tree of, else of `root` itself."""
    real = Path(os.path.realpath(root))
    return _main_work_tree(real) or real


def _main_work_tree(root: Path) -> Path | None:
    """The repository a linked work tree belongs to.

    A `.git` file can claim any repository, so the repository's own record must point back here.
    """
    link = root / ".git"
    if not link.is_file():
        return None
    claimed = _line(link).removeprefix("gitdir: ")
    if not claimed:
        return None
    record = Path(os.path.realpath(root / claimed))
    if record.parent.name != "worktrees" or record.parent.parent.name != ".git":
        return None
    back = _line(record / "gitdir")
    if not back or os.path.realpath(record / back) != str(link):
        return None
    return record.parent.parent.parent


def _line(path: Path) -> str:
    try:
        text = head_of(path, MAX_LINK_BYTES).decode("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ""
    return "" if "\0" in text else text
