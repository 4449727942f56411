"""MCP servers that a client names, as `--mcp-config` takes them: source and limits are the same."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from gatewright.agent.frontends.acp.jsonrpc import BAD_PARAMS, RpcError
from gatewright.agent.frontends.acp.params import McpServer
from gatewright.tools.system.untyped_json import Json

MOST = 64
REMOTE = ("http", "sse")


def as_flag(servers: Sequence[McpServer]) -> tuple[str, ...]:
    """Raises RpcError for one that is none."""
    if not servers:
        return ()
    if len(servers) > MOST:
        raise RpcError(BAD_PARAMS, f"More than {MOST} MCP servers.")
    entries = {server.name: _entry(server) for server in servers}
    if len(entries) != len(servers):
        raise RpcError(BAD_PARAMS, "Two MCP servers have one name.")
    return (msgspec.json.encode({"mcpServers": entries}).decode(),)


def _entry(server: McpServer) -> Json:
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
