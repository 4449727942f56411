"""MCP servers as clients of the public dialect read them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from gatewright.agent.servers.server_command import ServerRow
from gatewright.tools.system.untyped_json import Json

Rows: TypeAlias = Callable[[], Sequence[ServerRow]]
# What clients know of a server's state.
PUBLIC: Mapping[str, str] = {"unapproved": "disabled", "idle": "pending"}


def nobody() -> Sequence[ServerRow]:
    """For a session without servers."""
    return ()


def status(row: ServerRow) -> Json:
    """As the first object of a session lists it."""
    return {"name": row.name, "status": PUBLIC.get(row.state, row.state)}


def details(row: ServerRow) -> Json:
    """As a client that asks is told of it."""
    return {
        **status(row),
        "scope": row.source,
        "tools": [{"name": name} for name in row.tools],
        **({"error": row.error} if row.error else {}),
    }


def known_tools(tools: Sequence[str], rows: Sequence[ServerRow]) -> list[str]:
    """Those the session began with, and those of servers that are there by now."""
    return list(dict.fromkeys((*tools, *(name for row in rows for name in row.tools))))
