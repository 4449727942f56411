"""The tools that are about servers and not of one: their resources, and waiting for them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from gatewright.mcp.names import ruled
from gatewright.mcp.offered.resources import nearest, resource, resources_of
from gatewright.tools.access import Access, Effect, RemoteTool, Where
from gatewright.tools.blocks import Block, Text
from gatewright.tools.plain import StructTool
from gatewright.tools.protocol import (
    Run,
    TextContent,
    ToolContext,
    ToolFailure,
    ToolResult,
    ToolSpec,
)

if TYPE_CHECKING:
    from gatewright.mcp.server import Server

Named: TypeAlias = Callable[[], Mapping[str, "Server"]]
LIST_WAIT = 15.0  # seconds for all servers together
WAIT = 5.0
MOST = 500
SHADOWS = "This project's server stands in place of your own of the same name."

SPECS: Sequence[ToolSpec] = (
    ToolSpec(
        "ListMcpResources",
        "List resources (files, records, pages) that MCP servers offer, of all or one server.",
        {
            "type": "object",
            "properties": {"server": {"type": "string"}},
            "additionalProperties": False,
        },
    ),
    ToolSpec(
        "ReadMcpResource",
        "Read a resource of an MCP server by its URI, which ListMcpResources or a template names.",
        {
            "type": "object",
            "properties": {"server": {"type": "string"}, "uri": {"type": "string"}},
            "required": ["server", "uri"],
            "additionalProperties": False,
        },
    ),
    ToolSpec(
        "WaitForMcpServers",
        "Wait up to 5 seconds for MCP servers that are being connected, and start named ones.",
        {
            "type": "object",
            "properties": {"servers": {"type": "array", "items": {"type": "string"}}},
            "additionalProperties": False,
        },
    ),
)


class Which(msgspec.Struct, frozen=True):
    server: str = ""


class Wanted(msgspec.Struct, frozen=True):
    server: str
    uri: str


class Awaited(msgspec.Struct, frozen=True):
    servers: tuple[str, ...] = ()


class ListMcpResources(StructTool[Which]):
    name, input, effects = "ListMcpResources", Which, Effect.FREE | Effect.READ_ONLY

    def __init__(self, servers: Named) -> None:
        self._servers = servers

    def title(self, input: Which, where: Where) -> tuple[str, str]:
        del where
        return "List resources", input.server

    async def run(self, input: Which, ctx: ToolContext) -> Run:
        del ctx
        servers = self._servers()
        asked = [each for each in servers.values() if each.usable]
        if input.server:
            asked = [nearest(servers, input.server)]
        told = await asyncio.gather(*map(_listed, asked))
        lines = [line for each in told for line in each]
        if len(lines) > MOST:
            lines[MOST:] = [f"[{len(lines) - MOST} more: list one server alone.]"]
        count = sum(1 for line in lines if line.startswith("- "))
        text = "\n".join(lines) or "No server offers resources."
        yield ToolResult.text(text, summary=f"{count} resources")


async def _listed(server: Server) -> list[str]:
    try:
        async with asyncio.timeout(LIST_WAIT):
            found = await resources_of(server)
    except TimeoutError:
        return [f"{server.name}: did not answer in time."]
    except ToolFailure as failure:
        return [str(failure)]
    lines = [f"- {each.line()}" for each in found.found]
    more = ["[There are more, which are not listed.]"] if found.more else []
    return [f"{server.name}:", *lines, *more] if lines else []


class ReadMcpResource(StructTool[Wanted]):
    """It names no tool of a server, so no rule for one of those is about it."""

    name, input = "ReadMcpResource", Wanted

    def __init__(self, servers: Named) -> None:
        self._servers = servers

    def access(self, input: Wanted, where: Where) -> Access:
        del where
        server = self._servers().get(input.server)
        shadows = server is not None and server.definition.of_project_in_place
        return access_of(input.server, insist=SHADOWS if shadows else "")

    def title(self, input: Wanted, where: Where) -> tuple[str, str]:
        del where
        return "Read resource", f"{input.server} {input.uri}"

    def view(self, input: Wanted, result: ToolResult | None) -> Sequence[Block]:
        return (Text(f"{input.uri}\nof the MCP server {input.server}"),) if result is None else ()

    async def run(self, input: Wanted, ctx: ToolContext) -> Run:
        del ctx
        server = nearest(self._servers(), input.server)
        parts = await resource(server, input.uri)
        said = TextContent(f"What the MCP server {server.name} gives for {input.uri}:")
        yield ToolResult(ok=True, parts=(said, *parts), cap=server.cap)


def access_of(server: str, *, insist: str = "") -> Access:
    """Reading a resource of the server."""
    return Access(
        effects=Effect.READ_ONLY | Effect.OPEN_WORLD,
        remote=RemoteTool(ruled(server), ""),
        subject=server,
        insist=insist,
    )


class WaitForMcpServers(StructTool[Awaited]):
    name, input, effects = "WaitForMcpServers", Awaited, Effect.FREE | Effect.READ_ONLY

    def __init__(self, servers: Named) -> None:
        self._servers = servers

    def title(self, input: Awaited, where: Where) -> tuple[str, str]:
        del where
        return "Wait for servers", ", ".join(input.servers)

    async def run(self, input: Awaited, ctx: ToolContext) -> Run:
        del ctx
        servers = self._servers()
        named = [nearest(servers, name) for name in dict.fromkeys(input.servers)]
        awaited = named or [each for each in servers.values() if each.state == "pending"]
        await asyncio.gather(*(each.settle(WAIT) for each in awaited))
        told = [f"{each.name}: {_state(each)}" for each in named or servers.values()]
        yield ToolResult.text("\n".join(told) or "There are no MCP servers.", summary="")


def _state(server: Server) -> str:
    error = server.error.partition("\n")[0]
    return f"{server.state}, {len(server.listing.tools)} tools" + (f" ({error})" if error else "")
