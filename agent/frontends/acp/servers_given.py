"""MCP servers that a client names, as settings write them."""

from __future__ import annotations

from collections.abc import Sequence

from gatewright.agent.frontends.acp.jsonrpc import BAD_PARAMS, RpcError
from gatewright.agent.frontends.acp.params import McpServer
from gatewright.tools.protocol import JsonObject

MOST = 64
REMOTE = ("http", "sse")


def as_entries(servers: Sequence[McpServer]) -> dict[str, JsonObject]:
    """By name. Raises RpcError for one that is none."""
    if len(servers) > MOST:
        raise RpcError(BAD_PARAMS, f"More than {MOST} MCP servers.")
    entries = {server.name: _entry(server) for server in servers}
    if len(entries) != len(servers):
        raise RpcError(BAD_PARAMS, "Two MCP servers have one name.")
    return entries


def _entry(server: McpServer) -> JsonObject:
    if server.type in REMOTE and server.url:
        headers = {pair.name: pair.value for pair in server.headers}
        return {"type": server.type, "url": server.url, "headers": headers}
    if server.type == "stdio" and server.command:
        return {
            "type": "stdio",
            "command": server.command,
            "args": list(server.args),
            "env": {pair.name: pair.value for pair in server.env},
        }
    raise RpcError(BAD_PARAMS, f"The MCP server {server.name[:60]!r} is of no kind that we know.")
