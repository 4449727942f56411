"""How rules name the tools of servers: `mcp__server`, `mcp__server__*`, `mcp__server__tool`.

Only names in rules are taken apart here. Which server a call is about, it states (`Access.remote`).
"""

from __future__ import annotations

from fnmatch import fnmatchcase

from gatewright.tools.access import RemoteTool
from gatewright.tools.system.patterns import later

LEAD = "mcp__"
_LITERAL = later(r"[\w.:/-]+")  # which a rule reads as itself and as nothing more
_OTHER = later(r"[^A-Za-z0-9_-]")


def names_server(name: str) -> bool:
    return name[: len(LEAD)].lower() == LEAD


def parts(name: str) -> tuple[str, str] | None:
    """Server and tool of `mcp__server__tool`; the server's name holds no double underscore."""
    if not names_server(name):
        return None
    server, separator, tool = name[len(LEAD) :].partition("__")
    return (server, tool) if separator and server and tool else None


def whole_server(name: str) -> bool:
    """`mcp__server`, with or without wildcards."""
    return names_server(name) and "__" not in name[len(LEAD) :]


def name_of(remote: RemoteTool) -> str:
    """What rules call a tool of a server."""
    return f"{LEAD}{remote.server}__{remote.tool}"


def names_of(remote: RemoteTool) -> tuple[str, str]:
    """What people may call it: by its own name, or as it is written where that does not fit."""
    return name_of(remote), f"{LEAD}{remote.server}__{_OTHER.sub('_', remote.tool)}"


def grants(name: str, remote: RemoteTool) -> bool:
    """Whether an allow rule of that name is about the tool, part by part.

    What is about a server and no tool of it is granted with the whole server alone.
    """
    if not names_server(name) or not remote.server:
        return False
    server, separator, tool = name[len(LEAD) :].partition("__")
    if not remote.tool:
        return server == remote.server and (not separator or tool == "*")
    return server == remote.server and (not separator or fnmatchcase(remote.tool, tool))


def restricts(name: str, tool: str) -> bool:
    """Whether a rule with wildcards, or for a whole server, fits the whole name of a tool."""
    return fnmatchcase(tool, name) or (whole_server(name) and fnmatchcase(tool, f"{name}__*"))


def grantable(remote: RemoteTool) -> str:
    """The rule that would be read as this very server and tool again; empty where none is."""
    name = name_of(remote)
    same = parts(name) == (remote.server, remote.tool)
    return name if same and _LITERAL.fullmatch(remote.tool) else ""
