"""Kinds of agents that a start brings along: `--agents` with JSON, and what an SDK client says."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import msgspec

from gatewright.agent.agents.definitions.found import Found, Standing
from gatewright.agent.launch.exits import UsageError
from gatewright.tools.system.regular import read_regular

FLAG = "--agents"
CLIENT = "the client"
MAX_BYTES = 1024 * 1024


def of_flag(text: str, cwd: Path) -> tuple[Found, ...]:
    """`text` is JSON, or a file of it. Raises UsageError where that is no table of definitions."""
    if not text.strip():
        return ()
    data, where = text.encode(), FLAG
    if not text.lstrip().startswith(("{", "[", '"')):
        path = cwd / Path(text.strip()).expanduser()
        where = f"{FLAG} {path}"
        try:
            data = read_regular(path, MAX_BYTES)
        except OSError as error:
            raise UsageError(f"{where}: {error.strerror or error}.") from error
    try:
        entries: object = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"{where}: is no JSON: {error}.") from error
    if not isinstance(entries, dict):
        raise UsageError(f'{where}: say {{"name": {{"description": "...", "prompt": "..."}}}}.')
    found = of_entries(cast("dict[str, Any]", entries), where)
    if broken := [problem for each in found if each.kind is None for problem in each.problems]:
        raise UsageError(broken[0])
    return found


def of_entries(entries: Mapping[str, object], source: str = CLIENT) -> tuple[Found, ...]:
    """Each for itself: one that is wrong costs no other."""
    return tuple(_of_entry(name, entry, source) for name, entry in entries.items())


def _of_entry(name: str, entry: object, source: str) -> Found:
    from gatewright.agent.agents.definitions.reading import read_entry  # noqa: PLC0415  lazy

    if not isinstance(entry, dict):
        return Found(source, None, (f"{source}: {name[:80]!r} is no table of fields.",))
    return read_entry(name, cast("dict[str, Any]", entry), source, Standing("flag"))
