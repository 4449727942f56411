"""What is offered once: files of another program that the person may want copied.

A file is remembered by its path, so that one's own is not offered anew in each project.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from gatewright.agent.errors import SettingsError
from gatewright.agent.settings.layers.sources import Loaded
from gatewright.agent.settings.paths import Places
from gatewright.tools.system.regular import read_regular
from gatewright.tools.system.untyped_json import items, obj

KEPT = 1_000
MOST_BYTES = 8 * 1024 * 1024
KEY = "files"


def offers(loaded: Loaded, places: Places, *, interactive: bool) -> tuple[str, ...]:
    """A line for files that nobody was told about; from now on they were."""
    known = _known(places)
    new = [path for path in loaded.offered if str(path) not in known]
    if not new:
        return ()
    remember(places, new)
    way = ", or /import here" if interactive else ""
    return (f"Found Claude Code's settings: agent import claude{way}.",)


def remember(places: Places, paths: list[Path]) -> None:
    """A state that cannot be written offers again: nothing else depends on it."""
    from gatewright.agent.settings.edit import edit  # noqa: PLC0415  lazy: 9 ms, once a project

    def change(values: dict[str, Any]) -> None:
        kept = (each for each in items(values.get(KEY)) if isinstance(each, str))
        named = dict.fromkeys([*kept, *map(str, paths)])
        values[KEY] = list(named)[-KEPT:]

    with suppress(SettingsError):
        edit(_file(places), change)


def _known(places: Places) -> frozenset[str]:
    try:
        values: object = msgspec.json.decode(read_regular(_file(places), MOST_BYTES))
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return frozenset()
    return frozenset(each for each in items(obj(values).get(KEY)) if isinstance(each, str))


def _file(places: Places) -> Path:
    return places.state / "offered.json"
