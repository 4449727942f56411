"""Keeps an "always" of the person: in the project's local settings, or in their own file.

An untrusted project's files are not believed, so what is granted there is kept in the person's
own settings, under the project's path.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gatewright.agent.settings.edit import edit, entries, section
from gatewright.agent.settings.paths import Places
from gatewright.agent.settings.rulefile import text_of
from gatewright.agent.settings.traits import Source

DESCRIPTION = "Answered 'always' to a question"


class GrantStore:
    """Where an "always" goes; `place` names it for the person."""

    def __init__(self, places: Places, *, trusted: bool) -> None:
        self._root = places.root
        self._in_project = trusted
        source = Source.LOCAL if trusted else Source.USER
        path = places.file(source)
        if path is None:  # both layers have a file
            raise AssertionError(source)
        self._path: Path = path

    @property
    def place(self) -> str:
        if self._in_project:
            return "this project's local settings"
        return "your own settings, for this project"

    def store(self, rules: Sequence[str]) -> None:
        """Raises SettingsError when the file cannot be changed."""
        now = datetime.now(UTC).isoformat(timespec="seconds")

        def change(values: dict[str, Any]) -> None:
            own = () if self._in_project else ("projects", str(self._root))
            lists = section(self._path, values, *own, "permissions")
            allow = entries(self._path, lists, "allow")
            known = set(map(text_of, allow))
            for rule in rules:
                if rule not in known:
                    allow.append(
                        {
                            "rule": rule,
                            "description": DESCRIPTION,
                            "addedAt": now,
                            "addedBy": "user",
                        }
                    )

        edit(self._path, change)
