"""Plugs MCP servers in. Nothing of them is imported before somebody has written one down."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gatewright.agent.commands.registry import Command, Mention
from gatewright.agent.context.announcements import Announcement
from gatewright.agent.errors import GatewrightError, SessionError
from gatewright.agent.extensions.contribution import Contribution
from gatewright.agent.extensions.host import Extension, Host
from gatewright.agent.extensions.plugins.plugins_now import plugins_of
from gatewright.agent.servers.written import alone, any_written, seen
from gatewright.agent.settings.workspace import Surroundings
from gatewright.tools.access import MAIN, Where
from gatewright.tools.protocol import Content, JsonObject, Tool, ToolResult, ToolSpec

if TYPE_CHECKING:
    from gatewright.agent.extensions.servers.mcp_session import Carry, McpSession
    from gatewright.agent.servers.server_command import ServerRow, ToolRow
    from gatewright.mcp.definitions import Source
    from gatewright.mcp.servers import Servers


NEEDED = 30.0  # seconds that a server may take which a type of agent cannot do without


class McpServers:
    """What a session has of MCP servers; `session` is None for as long as there never was one."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._loop = asyncio.get_running_loop()
        self._seen = seen(host.around)
        self.session: McpSession | None = None

    def follow(self, around: Surroundings) -> tuple[str, ...]:
        """Take up what is written down now; what is new and wrong with it."""
        if self.session is None:
            if not (any_written(around) or self._of_plugins() or self._host.client.servers):
                return ()
            from gatewright.agent.extensions.servers.mcp_session import McpSession  # noqa: PLC0415  lazy: 10 ms

            self.session = McpSession(self._host)
        return self.session.take(around)

    def _of_plugins(self) -> bool:
        served = self._host.around.options.served
        return not served and any(each.servers for each in plugins_of(self._host.brought))

    def own(self, entries: Mapping[str, object], where: str, source: Source) -> Servers:
        """Servers of one agent alone. Raises SessionError."""
        around = self._host.around
        if source not in ("managed", "flag") and (alone(around)):
            raise SessionError(f"{where}: {alone(around)} alone says which MCP servers there are.")
        if self.session is None:
            from gatewright.agent.extensions.servers.mcp_session import McpSession  # noqa: PLC0415  lazy: 10 ms

            self.session = McpSession(self._host)
            self.session.take(around)
        return self.session.own(entries, where, source)

    def changed(self, around: Surroundings) -> None:
        """May be called from a thread."""
        self._loop.call_soon_threadsafe(self._follow, around)

    def _follow(self, around: Surroundings) -> None:
        self._seen = seen(around)
        try:
            problems = self.follow(around)
        except GatewrightError as error:
            problems = (str(error),)
        if self.session is not None:
            self.session.begin()
        for text in problems:
            self._host.warn(text)

    # a source of tools

    def specs(self, *, short: bool = False) -> Sequence[ToolSpec]:
        return self.session.servers.specs(short=short) if self.session is not None else ()

    def find(self, name: str) -> Tool[Any] | None:
        return self.session.servers.find(name) if self.session is not None else None

    def deferred(self) -> Sequence[str]:
        return tuple(self.session.servers.deferred()) if self.session is not None else ()

    def grows(self) -> bool:
        return self.session is not None and self.session.servers.grows()

    async def settled(self) -> None:
        if self.session is not None:
            await self.session.servers.settled()

    async def needed(self, names: Collection[str]) -> None:
        """Wait for servers that an agent cannot do without, as far as they may be connected."""
        if self.session is not None:
            await self.session.servers.needed(names, NEEDED)

    # what a session asks of it

    async def first(self, typed: str, text: str, where: Where) -> Sequence[tuple[Content, ...]]:
        """Resources that an input names; the first one waits for what must be in its request."""
        del text
        if seen(self._host.around) != self._seen:  # no settings file: nobody else looks at it
            self._follow(self._host.around)
        if self.session is not None:
            self.session.servers.let_in()
        await self.settled_first()
        if self.session is None or "@" not in typed:
            return ()
        return await self.session.mentions.brought(typed, where)

    def claims(self, name: str) -> bool:
        return self.session is not None and self.session.mentions.claims(name)

    async def offered(self, begun: str) -> Sequence[Mention]:
        return await self.session.mentions.offered(begun) if self.session is not None else ()

    async def settled_first(self) -> None:
        """Wait, once and not for long, for what the first request must know."""
        if self.session is not None:
            await self.session.servers.first()

    def words(self) -> Announcement:
        text = self.session.servers.words() if self.session is not None else ""
        return Announcement("servers", text)

    def carried_by(self, carry: Carry) -> None:
        """By whom servers in a client's process are reached."""
        if self.session is not None:
            self.session.carried_by(carry)

    def connected_tool(self, server: str, tool: str) -> str:
        """What a model calls the tool; empty where the server is not connected or has none."""
        found = self.session.servers.named(server) if self.session is not None else None
        if found is None or found.state != "connected":
            return ""
        return next((name for name, each in found.tools().items() if each.name == tool), "")

    def of_project(self, server: str) -> bool:
        """Whether the project says what is behind that name."""
        found = self.session.servers.named(server) if self.session is not None else None
        return found is not None and found.definition.source == "project"

    def needs_person(self, name: str) -> bool:
        """Whether the tool of that name wants a person to answer for it."""
        return self.session is not None and self.session.servers.needs_person(name)

    async def call_alone(
        self, name: str, input: JsonObject, *, allows: bool, agent: str = MAIN
    ) -> ToolResult | str:
        """A call that nobody is asked about; a text is why there was none."""
        if self.session is None:
            return "there are no MCP servers"
        return await self.session.lone.call(name, input, allows=allows, agent=agent)

    def prompts(self) -> Sequence[Command]:
        return self.session.prompts.now() if self.session is not None else ()

    def rows(self) -> Sequence[ServerRow]:
        return self.session.rows() if self.session is not None else ()

    def tools(self, name: str) -> Sequence[ToolRow]:
        return self.session.tools(name) if self.session is not None else ()

    def memory(self, name: str) -> int:
        return self.session.memory(name) if self.session is not None else 0

    def log(self, name: str) -> str:
        return self.session.log(name) if self.session is not None else ""

    async def act(self, verb: str, name: str, more: str = "") -> str:
        if self.session is None:
            raise SessionError(f"There is no MCP server {name}.")
        return await self.session.act(verb, name, more)

    def reconnect_soon(self, name: str) -> None:
        """Without waiting for it. Raises SessionError where there is none of that name."""
        if self.session is None or not self.session.servers.reconnect_soon(name):
            raise SessionError(f"There is no MCP server {name}.")

    async def close(self) -> None:
        if self.session is not None:
            await self.session.close()


async def plug_servers(host: Host) -> Contribution:
    servers = McpServers(host)
    problems = await asyncio.to_thread(servers.follow, host.around)
    if servers.session is not None:
        servers.session.begin()
    host.live.listen(servers.changed)

    def commands() -> Sequence[Command]:
        from gatewright.agent.servers.server_command import server_commands  # noqa: PLC0415  lazy: 2 ms

        return server_commands(servers)

    return Contribution(
        sources=(servers,),
        commands=(commands, servers.prompts),
        announcements=(servers.words,),
        brings=(servers.first,),
        claims=servers.claims,
        mentions=servers.offered,
        parts=(servers,),
        problems=problems,
        close=(servers.close,),
    )


MCP = Extension(name="MCP", plug=plug_servers)
