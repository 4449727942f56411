"""Keeps an "always" of the person: in the project's local settings, or in their own file.

An untrusted project's files are not believed, so what is granted there is kept in the person's
own settings, under the project's path.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gatewright.agent.settings.paths import Places
from gatewright.agent.settings.traits import Source

DESCRIPTION = "Answered 'always' to a question"


class GrantStore:
    """Where an "always" goes; `place` names it for the person."""

    def __init__(self, places: Places, *, trusted: bool) -> None:
        self._root = places.root
        self._in_project = trusted
        self._own = _file(places, Source.USER)
        self._path = _file(places, Source.LOCAL) if trusted else self._own

    @property
    def place(self) -> str:
        if self._in_project:
            return "this project's local settings"
        return "your own settings, for this project"

    def store(self, rules: Sequence[str], *, everywhere: bool = False) -> None:
        """`everywhere` is for all of the person's projects. Raises SettingsError."""
        from gatewright.agent.settings.edit import edit, entries, section  # noqa: PLC0415  lazy: 1 ms
        from gatewright.agent.settings.rulefile import text_of  # noqa: PLC0415  lazy

        path = self._own if everywhere else self._path
        here = not (everywhere or self._in_project)
        now = datetime.now(UTC).isoformat(timespec="seconds")

        def change(values: dict[str, Any]) -> None:
            own = ("projects", str(self._root)) if here else ()
            lists = section(path, values, *own, "permissions")
            allow = entries(path, lists, "allow")
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

        edit(path, change)


def _file(places: Places, source: Source) -> Path:
    path = places.file(source)
    if path is None:  # both layers have a file
        raise AssertionError(source)
    return path
