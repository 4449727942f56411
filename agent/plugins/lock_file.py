"""`plugins/lock.json`: which plugins are installed and what was agreed to, read and changed.

A file that cannot be read installs nothing, and is never overwritten: the reason is told.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from gatewright.agent.errors import GatewrightError
from gatewright.agent.plugins.record import Answer, Lock, Record
from gatewright.agent.settings.layers.settled import MAX_BYTES
from gatewright.agent.settings.trust import trust_key
from gatewright.tools.system.regular import read_regular


class LockFile:
    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> Lock:
        """Raises GatewrightError where there is a file that says nothing we know."""
        try:
            data = read_regular(self.path, MAX_BYTES)
            return msgspec.json.decode(data, type=Lock) if data.strip() else Lock()
        except (FileNotFoundError, NotADirectoryError):
            return Lock()
        except OSError as error:
            raise GatewrightError(
                f"{self.path} cannot be read, so that no plugin counts: {error.strerror or error}."
            ) from error
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise GatewrightError(
                f"{self.path} is broken, so that no plugin counts: {error}. Repair it, or remove "
                "it and install them again."
            ) from error

    def put(self, record: Record) -> None:
        """In place of what is known of it. Raises SettingsError."""
        self._change(lambda plugins: plugins.__setitem__(record.id, msgspec.to_builtins(record)))

    def drop(self, id: str) -> None:
        self._change(lambda plugins: plugins.pop(id, None))

    def answer(self, root: Path, id: str, said: Answer | None) -> None:
        """What was said of a plugin that a project names; None forgets it. Raises SettingsError."""
        from gatewright.agent.settings.edit import edit, section  # noqa: PLC0415  lazy: 9 ms

        def change(values: dict[str, Any]) -> None:
            answers = section(self.path, values, "projects", str(trust_key(root)))
            if said is None:
                answers.pop(id, None)
            else:
                answers[id] = said

        edit(self.path, change)

    def _change(self, change: Callable[[dict[str, Any]], object]) -> None:
        from gatewright.agent.settings.edit import edit, section  # noqa: PLC0415  lazy: 9 ms

        def changed(values: dict[str, Any]) -> None:
            change(section(self.path, values, "plugins"))

        edit(self.path, changed)


def answers_of(lock: Lock, root: Path) -> Mapping[str, Answer]:
    """What was said of plugins that this project names."""
    return lock.projects.get(str(trust_key(root)), {})
