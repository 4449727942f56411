"""Resources of servers: listed, and read with a word of where they come from.

A URI is a server's name for something of its own: nothing here opens it, whatever it looks like.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from gatewright.mcp.offered.listed import LONGEST_URI, Resources
from gatewright.tools.protocol import Part, RawImage, TextContent, ToolFailure

if TYPE_CHECKING:
    from gatewright.mcp.server import Server

EMPTY = "(It is empty.)"


async def resources_of(server: Server) -> Resources:
    """As they are now, asked for once until the server says that they changed.

    Raises ToolFailure.
    """
    if server.hello.era and not server.hello.resources:
        return Resources()
    if server.resources is None:
        found = await server.asked(lambda asking: asking.resources())
        server.resources = found if server.hello.resources else Resources()
    return server.resources


async def resource(server: Server, uri: str) -> tuple[Part, ...]:
    """What it holds, in the words of the server. Raises ToolFailure."""
    if not uri.strip() or len(uri) > LONGEST_URI:
        raise ToolFailure(f"A URI has 1 to {LONGEST_URI:,} characters.")
    parts = await server.asked(lambda asking: asking.read(uri))
    if not parts:
        return (TextContent(EMPTY),)
    return tuple(_named(part) for part in parts)


def _named(part: Part) -> Part:
    """A picture that is none is said to be none, beside the others."""
    return RawImage(part.data, part.name or "Picture") if isinstance(part, RawImage) else part


def nearest(servers: Mapping[str, Server], name: str) -> Server:
    """The one that is called so. Raises ToolFailure."""
    found = servers.get(name)
    if found is None or not found.usable:
        there = ", ".join(name for name, each in servers.items() if each.usable) or "none"
        raise ToolFailure(f"There is no MCP server {name} here. There are: {there}.")
    return found
