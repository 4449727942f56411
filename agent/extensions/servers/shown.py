"""A server and its tools as people look at them: facts, the rule about each, its pin."""

from __future__ import annotations

from gatewright.agent.servers.server_command import ServerRow, ToolRow
from gatewright.mcp.described import Described
from gatewright.mcp.names import ruled
from gatewright.mcp.server import Server
from gatewright.mcp.servers import PER_TOKEN
from gatewright.permissions.calls.ruling import ruling
from gatewright.permissions.context import Context
from gatewright.tools.access import Access, RemoteTool


def server_row(server: Server, confined: str) -> ServerRow:
    tools = server.tools()
    changed = [name for name, tool in tools.items() if server.accepted(tool) is not tool]
    return ServerRow(
        name=server.name,
        source=server.definition.source,
        where=server.definition.where,
        state=server.state,
        error=server.error,
        era=server.hello.era,
        server=server.hello.server,
        tools=tuple(tools),
        confined=confined,
        changed=tuple(changed),
        left_out=server.listing.left_out,
        tokens=server.size() // PER_TOKEN,
        pid=server.pid,
        log=str(server.log.path),
    )


def tool_row(full: str, server: Server, tool: Described, context: Context) -> ToolRow:
    rule = ruling(full, Access(remote=RemoteTool(ruled(server.name), tool.name)), context)
    return ToolRow(
        full,
        tool.hint(),
        tool.beginning(),
        rule=f"{rule.behavior} {rule.text} ({rule.source})" if rule is not None else "",
        pin=_pin(server, tool),
    )


def _pin(server: Server, tool: Described) -> str:
    if not server.definition.pinned:
        return "not kept"
    accepted = server.accepted(tool)
    if accepted is None:
        return "new"
    return "accepted" if accepted.pin == tool.pin else "changed"
