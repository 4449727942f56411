"""Calls of servers' tools that hooks make: of a server that is connected, and of no other."""

from __future__ import annotations

from gatewright.agent.extensions.contribution import part_of
from gatewright.agent.extensions.host import Host
from gatewright.agent.extensions.servers.plugging import McpServers
from gatewright.agent.hooks.handlers import OF_PERSON, Handler
from gatewright.tools.protocol import JsonObject, ToolResult


class HookCalls:
    def __init__(self, host: Host) -> None:
        self._host = host

    async def __call__(self, handler: Handler, input: JsonObject, agent: str) -> ToolResult | str:
        """The result, or why there is none."""
        said = handler.said
        servers = part_of(self._host.brought, McpServers)
        name = servers.connected_tool(said.server, said.tool) if servers is not None else ""
        if not name or servers is None:
            return f"the server {said.server} is not connected, or has no tool {said.tool}"
        # A person who named a server meant one of their own, and no project's of that name.
        own = handler.place.origin in OF_PERSON and not servers.of_project(said.server)
        return await servers.call_alone(name, input, allows=own, agent=agent)
