"""What is offered once: files of another program that the person may want copied.

A file is remembered by its path, so that one's own is not offered anew in each project.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import msgspec

from gatewright.agent.errors import SettingsError
from gatewright.agent.settings.layers.sources import Loaded
from gatewright.agent.settings.paths import SERVERS, Places
from gatewright.tools.system.regular import read_regular

KEPT = 1_000
MOST_BYTES = 8 * 1024 * 1024
KEY = "files"


def offers(loaded: Loaded, places: Places, *, interactive: bool) -> tuple[str, ...]:
    """A line for each kind of file that nobody was told about; from now on they were.

    Costs one look for a file where there is none.
    """
    servers = tuple(path for path in (places.root / SERVERS,) if path.exists())
    found = (*loaded.offered, *servers)
    if not found:
        return ()
    known = _known(places)
    new = [path for path in found if str(path) not in known]
    if not new:
        return ()
    remember(places, new)
    lines: list[str] = []
    if any(path not in servers for path in new):
        way = ", or /import here" if interactive else ""
        lines.append(f"Found Claude Code's settings: agent import claude{way}.")
    if any(path in servers for path in new):
        lines.append(f"Found {SERVERS}: MCP servers are not supported yet.")
    return tuple(lines)


def remember(places: Places, paths: list[Path]) -> None:
    """A state that cannot be written offers again: nothing else depends on it."""
    from gatewright.agent.settings.edit import edit  # noqa: PLC0415  lazy: 9 ms, once a project

    def change(values: dict[str, Any]) -> None:
        before: Any = values.get(KEY)
        kept = cast("list[object]", before) if isinstance(before, list) else []
        named = dict.fromkeys([*(each for each in kept if isinstance(each, str)), *map(str, paths)])
        values[KEY] = list(named)[-KEPT:]

    with suppress(SettingsError):
        edit(_file(places), change)


def _known(places: Places) -> frozenset[str]:
    try:
        values: Any = msgspec.json.decode(read_regular(_file(places), MOST_BYTES))
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return frozenset()
    known: Any = cast("dict[str, Any]", values).get(KEY) if isinstance(values, dict) else None
    entries = cast("list[object]", known) if isinstance(known, list) else []
    return frozenset(each for each in entries if isinstance(each, str))


def _file(places: Places) -> Path:
    return places.state / "offered.json"
