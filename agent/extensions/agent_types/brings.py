"""What a definition brings besides words: hooks, and servers, for its agents alone while they work.

Agents of one type share the connections of its servers; nobody else can call their tools.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from gatewright.agent.agents.kind import AgentKind, Origin
from gatewright.agent.errors import SessionError
from gatewright.agent.extensions.contribution import part_of
from gatewright.agent.extensions.hooks import Hooks
from gatewright.agent.extensions.host import Host
from gatewright.agent.extensions.servers.plugging import NEEDED, McpServers
from gatewright.tools.protocol import Tool, ToolSpec

if TYPE_CHECKING:
    from gatewright.mcp.definitions import Source
    from gatewright.mcp.server import Server
    from gatewright.mcp.servers import Servers

FIRST_WAIT = 5.0  # seconds that its first request waits for a server
SOURCES: dict[Origin, Source] = {"managed": "managed", "flag": "flag", "project": "project"}
ABOUT_SERVER = "mcp__"


class _Held(msgspec.Struct):
    servers: Servers
    agents: set[str] = msgspec.field(default_factory=set[str])


class AgentBrings:
    """A source of tools that offers none: who started an agent adds what `specs` says."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._held: dict[tuple[str, bytes], _Held] = {}
        self._closing: set[asyncio.Future[None]] = set()

    async def begin(self, agent: str, kind: AgentKind) -> None:
        """Before its first turn. Raises SessionError for what it cannot do without."""
        from gatewright.agent.agents.agent_memory import memory_folder, prepare  # noqa: PLC0415  lazy

        if kind.hooks and (hooks := part_of(self._host.brought, Hooks)) is not None:
            from gatewright.agent.hooks.handlers import Place  # noqa: PLC0415  lazy: with the first hook

            hooks.bring(agent, kind.hooks, Place("agent", _where(kind), name=kind.name))
        if (folder := memory_folder(kind, self._host.around)) is not None:
            await asyncio.to_thread(prepare, folder, kind)
            self._host.policy.view(agent).memory = str(folder)
        if kind.inline_servers:
            await self._connect(agent, kind)

    def prompt(self, kind: AgentKind) -> str:
        """What its type remembers, for the system prompt."""
        from gatewright.agent.agents.agent_memory import memory_folder, memory_section  # noqa: PLC0415  lazy

        folder = memory_folder(kind, self._host.around)
        if folder is None:
            return ""
        own = kind.memory == "user"  # below our own home, where it is the agent's
        return memory_section(folder, None if own else self._host.briefing.readable)

    def end(self, agent: str) -> None:
        """It has ended; what only it used goes, beside whatever else happens."""
        if (hooks := part_of(self._host.brought, Hooks)) is not None:
            hooks.left(agent)
        for key, held in list(self._held.items()):
            held.agents.discard(agent)
            if not held.agents:
                del self._held[key]
                task = asyncio.ensure_future(held.servers.close())
                self._closing.add(task)
                task.add_done_callback(self._closing.discard)

    async def close(self) -> None:
        """With the session: nothing of it is left running."""
        held, self._held = list(self._held.values()), {}
        closing = (*(each.servers.close() for each in held), *self._closing)
        await asyncio.gather(*closing, return_exceptions=True)

    async def _connect(self, agent: str, kind: AgentKind) -> None:
        key = kind.name, msgspec.json.encode(kind.inline_servers, order="sorted")
        held = self._held.get(key)
        if held is None:
            self._unlike(kind)
            mcp = part_of(self._host.brought, McpServers)
            if mcp is None:
                raise SessionError(f"{_where(kind)}: there are no MCP servers in this session.")
            source = SOURCES.get(kind.origin, "user")
            held = _Held(mcp.own(kind.inline_servers, _where(kind), source))
            self._held[key] = held
        held.agents.add(agent)
        found = await asyncio.gather(*(_ready(server, kind) for server in held.servers.all))
        if wrong := [text for text in found if text]:
            self.end(agent)
            raise SessionError(wrong[0])

    def _unlike(self, kind: AgentKind) -> None:
        """Two servers of one name cannot be told apart."""
        from gatewright.mcp.names import mark  # noqa: PLC0415  lazy

        for (name, _), held in self._held.items():
            there = {mark(server.name) for server in held.servers.all}
            for own in kind.inline_servers:
                if mark(own) in there:
                    raise SessionError(
                        f"{_where(kind)}: an agent of the type {name} has a server {own}, too, and "
                        "still works."
                    )

    # tools

    def own(self, agent: str, kind: AgentKind) -> Sequence[ToolSpec]:
        """Those of its servers, as far as it may have them."""
        from gatewright.agent.agents.own_tools import own_tools  # noqa: PLC0415  lazy

        found = [
            spec
            for held in self._held.values()
            if agent in held.agents
            for spec in held.servers.specs()
            if spec.name.startswith(ABOUT_SERVER)
        ]
        return own_tools(replace(kind, servers=()), found, named=False, deepest=True)

    def specs(self, *, short: bool = False) -> Sequence[ToolSpec]:
        del short
        return ()

    def find(self, name: str) -> Tool[Any] | None:
        if not name.startswith(ABOUT_SERVER):
            return None
        for held in self._held.values():
            if (found := held.servers.find(name)) is not None:
                from gatewright.agent.extensions.agent_types.own_tool import OwnTool  # noqa: PLC0415  lazy: with a server

                return OwnTool(found, held.agents)
        return None


async def _ready(server: Server, kind: AgentKind) -> str:
    """Why the agent cannot begin; one that it can do without comes late, or never."""
    from gatewright.mcp.errors import NotConnected  # noqa: PLC0415  lazy

    needed = server.name in kind.required_servers
    try:
        await asyncio.wait_for(server.ready(), NEEDED if needed else FIRST_WAIT)
    except (NotConnected, TimeoutError) as error:
        return f"Its MCP server {server.name} is not connected. {error}".strip() if needed else ""
    return ""


def _where(kind: AgentKind) -> str:
    return str(kind.path or kind.name)
