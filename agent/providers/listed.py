"""What providers listed as their models when somebody asked last: kept in our home, with a cap.

A list counts only for the address it came from; one that cannot be read is as good as none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from gatewright.agent.errors import SettingsError
from gatewright.tools.system.regular import read_regular

MOST = 2_000  # models of one provider
LONGEST = 200  # of a name
FILE_LIMIT = 8 * 1024 * 1024
LEAST_WINDOW, MOST_WINDOW = 1_024, 100_000_000


class Listed(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """A model as its server describes it; zero where it says nothing."""

    name: str
    window: int = 0
    max_output: int = 0


class ModelList(msgspec.Struct, frozen=True, rename="camel"):
    base_url: str
    models: tuple[Listed, ...]


class ModelLists:
    def __init__(self, path: Path) -> None:
        self._path = path

    def all(self) -> Mapping[str, ModelList]:
        try:
            data = read_regular(self._path, FILE_LIMIT)
            return msgspec.json.decode(data, type=dict[str, ModelList])
        except (OSError, msgspec.DecodeError, UnicodeError):
            return {}

    def of(self, provider: str, base_url: str) -> tuple[Listed, ...]:
        found = self.all().get(provider)
        return found.models if found is not None and found.base_url == base_url else ()

    def keep(self, provider: str, base_url: str, models: Sequence[Listed]) -> None:
        """In the place of what was kept of it. Raises SettingsError."""
        from gatewright.agent.settings.edit import edit  # noqa: PLC0415  lazy: 5 ms, asked for only

        if not self.all():
            self._path.unlink(missing_ok=True)  # unreadable: nothing in it is worth keeping

        def change(values: dict[str, Any]) -> None:
            kept = ModelList(base_url, tuple(models[:MOST]))
            values[provider] = msgspec.to_builtins(kept)

        try:
            edit(self._path, change)
        except OSError as error:
            raise SettingsError(f"{self._path} cannot be written: {error}.") from error


def listed(name: str, window: int, max_output: int) -> Listed | None:
    """A model of somebody else's list; None for what is no name."""
    if not name or len(name) > LONGEST or not name.isprintable() or " " in name:
        return None
    known = window if LEAST_WINDOW <= window <= MOST_WINDOW else 0
    return Listed(name, known, min(max_output, known) if known else 0)


def model_lists(env: Mapping[str, str]) -> ModelLists:
    from gatewright.agent.settings.paths import own_home  # noqa: PLC0415  lazy: 3 ms

    return ModelLists(own_home(env) / "state" / "models.json")
