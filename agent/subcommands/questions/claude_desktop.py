"""The MCP servers that Claude Desktop has written down: read, and chosen from by the person."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from gatewright.agent.launch.exits import UsageError
from gatewright.agent.settings.edit import read_object
from gatewright.agent.settings.paths import user_home
from gatewright.agent.subcommands.tell import tell
from gatewright.mcp.definitions import BadDefinition, Definition, Source, read
from gatewright.tools.system.untyped_json import obj

NAME = "claude_desktop_config.json"


def place(env: Mapping[str, str], platform: str = sys.platform) -> Path:
    home = user_home(env)
    if platform == "darwin":
        return home / "Library" / "Application Support" / "Claude" / NAME
    return Path(env.get("XDG_CONFIG_HOME") or home / ".config") / "Claude" / NAME


def offered(path: Path, source: Source) -> Iterator[Definition]:
    """Those that could be ours; of the others it is told why not. Raises UsageError."""
    if not path.exists():
        raise UsageError(f"There are no servers of Claude Desktop here: no {path}.")
    for name, raw in obj(read_object(path).get("mcpServers")).items():
        try:
            yield read(name, raw, source, str(path))
        except BadDefinition as error:
            tell(f"!!  {name} is left out: {error}", err=True)


def chosen(
    found: Sequence[Definition], names: Sequence[str], *, every: bool
) -> Iterator[Definition]:
    """By name, all, or one after the other by a person at the terminal. Raises UsageError."""
    known = {each.name for each in found}
    for name in names:
        if name not in known:
            told = ", ".join(known) or "none"
            raise UsageError(f"Claude Desktop has no server {name} that could be ours: {told}.")
    if not names and not every and not sys.stdin.isatty():
        raise UsageError(f"Name a server, or say --all. There are: {', '.join(known) or 'none'}.")
    for each in found:
        if every or each.name in names or (not names and _wanted(each)):
            yield each


def free(name: str, taken: Collection[str]) -> str:
    """The name, or the first of its kind that nobody has."""
    number, made = 0, name
    while made in taken:
        number += 1
        made = f"{name}_{number}"
    return made


def _wanted(definition: Definition) -> bool:
    what = definition.url or " ".join((definition.command, *definition.args))
    tell(f"{definition.name}: {what}\nAdd it? [y/N] ", nl=False)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
