"""What a call would touch, read from its name and input alone: for judging with no tool behind it.

Only here a name says what a tool does. The gate of a session has the tool's own word.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from gatewright.permissions.paths import Place, absolute
from gatewright.permissions.rulebook import servers, tools_table
from gatewright.permissions.shell.parse.words import brace_expand
from gatewright.tools.access import Access, Effect, Kind, RemoteTool, ShellText
from gatewright.tools.system.patterns import later

_MAGIC = later(r"[*?\[{]")


def declared_access(
    tool: str, given: Mapping[str, object], place: Place, *, origin: str = ""
) -> Access:
    """The facts the built-in tool of that name would declare for this input."""
    if (remote := servers.parts(tool)) is not None:
        return Access(remote=RemoteTool(*remote), effects=Effect.OPEN_WORLD)
    row = tools_table.row(tool)
    value = given.get(row.field) if row.field else None
    text = value if isinstance(value, str) else ""
    match row.family:
        case "read":
            return Access(reads=(_read_path(text, place),), effects=Effect.READ_ONLY)
        case "edit":
            return Access(writes=(Path(_raw(text, place)),))
        case "shell":
            unsandboxed = given.get("dangerouslyDisableSandbox") is True
            return Access(runs=ShellText(text, Path(place.cwd), unsandboxed))
        case "web":
            return Access(urls=(text,), effects=Effect.OPEN_WORLD)
        case "mcp":
            effects = _EFFECTS[row.family]
            return Access(remote=RemoteTool(text, ""), subject=text, effects=effects)
        case "skill" | "slash" | "workflow":
            return Access(kind=_KINDS[row.family], subject=text, origin=origin)
        case _:
            return Access(subject=text, effects=_EFFECTS.get(row.family, Effect.NONE))


_KINDS: Mapping[str, Kind] = {"skill": "skill", "slash": "command", "workflow": "workflow"}
_EFFECTS: Mapping[str, Effect] = {
    "search": Effect.OPEN_WORLD | Effect.READ_ONLY,
    "mcp": Effect.OPEN_WORLD | Effect.READ_ONLY,
    "agent": Effect.AGENT,
    "human": Effect.HUMAN,
    "free": Effect.FREE,
}


def _raw(text: str, place: Place) -> str:
    return absolute(text, place.cwd, place.home)


def _read_path(text: str, place: Place) -> Path:
    path = _raw(text, place) if text else place.cwd
    return Path(path)


def glob_roots(given: Mapping[str, object], base: str, place: Place) -> tuple[Path, ...]:
    """Every directory a file pattern may start in, braces expanded."""
    pattern = given.get("pattern")
    if not isinstance(pattern, str):
        return ()
    path = given.get("path")
    start = absolute(path, base, place.home) if isinstance(path, str) and path else base
    return tuple(Path(glob_root(one, start, place)) for one in brace_expand(pattern))


def glob_root(pattern: str, base: str, place: Place) -> str:
    """The directory a file pattern starts in: its literal head joined to the path."""
    found = _MAGIC.search(pattern)
    head = pattern if found is None else pattern[: found.start()].rpartition("/")[0]
    if found is not None and not head and pattern.startswith("/"):
        return "/"
    if found is not None and ".." in pattern[found.start() :].split("/"):
        return "/"  # it climbs out of wherever its wildcards lead
    return absolute(head, base, place.home) if head else base
