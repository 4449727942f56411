"""What servers and their tools may be called, and the names that a model knows tools by.

A name that a server chose never stands for anything but a tool of that server.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable

from gatewright.tools.system.patterns import later

LEAD = "mcp__"
PLUGIN = "plugin:"
LONGEST = 64  # what providers take
RESERVED = frozenset({"gatewright", "ide", "sdk"})
_SEEN = 50  # characters that are left of a server where a name is cut
_SERVER = later(r"[A-Za-z0-9_-]{1,64}")
_OTHER = later(r"[^A-Za-z0-9_-]")


def of_plugin(plugin: str, server: str) -> str:
    """What a server of a plugin is called: nobody else's may be called so."""
    return f"{PLUGIN}{plugin}:{server}"


def split(text: str) -> tuple[str, str, str]:
    """A server's name, the colon behind it, and what follows."""
    if not text.startswith(PLUGIN):
        return text.partition(":")
    plugin, colon, rest = text.removeprefix(PLUGIN).partition(":")
    server, behind, uri = rest.partition(":")
    return f"{PLUGIN}{plugin}{colon}{server}", behind, uri


def ruled(server: str) -> str:
    """What rules and the names of tools call it."""
    return server.replace(":", "_")


def lead_of(server: str) -> str:
    """How the names begin by which a model knows its tools."""
    return f"{LEAD}{ruled(server)}"


def wrong_name(name: str, *, plugin: bool = False) -> str:
    """Why no server may be called so; empty where it may."""
    if plugin:
        owner, _, server = name.removeprefix(PLUGIN).partition(":")
        return _wrong(owner) or _wrong(server)
    if why := _wrong(name):
        return why
    if folded(name) in RESERVED or name.casefold().startswith("plugin"):
        return "is reserved"
    return ""


def _wrong(name: str) -> str:
    if not _SERVER.fullmatch(name):
        return "may hold letters, digits, - and _ only, 64 at most"
    if "__" in name or name.startswith("_") or name.endswith("_"):
        return "may hold no two underscores in a row, and none at its ends"
    return ""


def folded(name: str) -> str:
    """Two servers with the same folded name look alike."""
    return name.casefold().replace("-", "_").replace(":", "_")


def mark(name: str) -> str:
    """What is seen of a server in the names of its tools: no two servers have the same."""
    return folded(name)[:_SEEN]


def tool_names(server: str, tools: Iterable[str]) -> dict[str, str]:
    """The name for a model by the tool's own name; no two of a server are the same."""
    plain = {tool: f"{lead_of(server)}__{_OTHER.sub('_', tool)}" for tool in tools}
    often = Counter(plain.values())
    return {
        tool: _cut(name, tool) if len(name) > LONGEST or often[name] > 1 else name
        for tool, name in plain.items()
    }


def _cut(name: str, tool: str) -> str:
    mark = hashlib.sha256(tool.encode("utf-8", "replace")).hexdigest()[:6]
    return f"{name[: LONGEST - len(mark) - 1]}_{mark}"
