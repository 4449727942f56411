"""Resources that a person points at with `@server:uri`: read and sent along without a question.

Who types the name says yes to reading it; a rule that denies it stands above that.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence

from gatewright.agent.commands.registry import Mention
from gatewright.agent.context.attachments import CHARACTERS, named
from gatewright.agent.extensions.host import Host
from gatewright.agent.text.printable import escaped
from gatewright.agent.text.well_formed import formed
from gatewright.mcp.names import ruled, split
from gatewright.mcp.offered.completing import completed
from gatewright.mcp.offered.resources import resource
from gatewright.mcp.server import Server
from gatewright.permissions.readable import denies_resource
from gatewright.tools.access import Where
from gatewright.tools.protocol import Content, TextContent, ToolFailure, ToolResult
from gatewright.tools.system.processes import spawn

RESOURCES = "resources of this MCP server"


class Mentions:
    def __init__(self, host: Host, servers: Callable[[], Mapping[str, Server]]) -> None:
        self._host = host
        self._servers = servers
        self._spill = host.base.start.path.with_suffix("") / "spill"

    def claims(self, name: str) -> bool:
        """Whether a name behind @ is that of a resource."""
        server, separator, uri = split(name)
        found = self._servers().get(server)
        return bool(separator and uri and found is not None and found.usable)

    async def offered(self, begun: str) -> Sequence[Mention]:
        """What a name behind @ that begins so may be: a server, or something of one."""
        server, separator, uri = split(begun)
        if separator:
            found = self._servers().get(server)
            if found is None or not found.usable:
                return ()
            return [
                Mention(f"{server}:{each.uri}", escaped(each.about), open=each.open)
                for each in await completed(found, uri)
            ]
        usable = [each for each in self._servers().values() if each.usable and each.hello.resources]
        return [Mention(f"{each.name}:", RESOURCES, open=True) for each in usable]

    async def brought(self, typed: str, where: Where) -> Sequence[tuple[Content, ...]]:
        claimed = (name for name in named(typed) if self.claims(name))
        found = await asyncio.gather(*(self._one(name, where) for name in claimed))
        return [content for content in found if content]

    async def _one(self, name: str, where: Where) -> tuple[Content, ...]:
        server, _, uri = split(name)
        try:
            if rule := denies_resource(self._host.policy, where, ruled(server), uri):
                raise ToolFailure(f"the rule {rule} denies it")
            parts = await resource(self._servers()[server], uri)
            from gatewright.tools.documents.fitted import fitted  # noqa: PLC0415  lazy: only with images

            fit = await fitted(ToolResult(ok=True, parts=parts), spawn, self._spill)
        except ToolFailure as failure:
            said = f"@{name} was not attached: {str(failure).rstrip('.')}."
            self._tell(said, warning=True)
            return formed((TextContent(said),))
        self._tell(f"Attached: {name}")
        return formed((TextContent(f"What the MCP server {server} gives for {uri}:"), *cut(fit)))

    def _tell(self, text: str, *, warning: bool = False) -> None:
        """Behind the input, which is published next."""
        say = self._host.warn if warning else self._host.base.mention
        asyncio.get_running_loop().call_soon(say, escaped(text))


def cut(result: ToolResult) -> Sequence[Content]:
    """As much of it as may go along with an input."""
    left = CHARACTERS
    found: list[Content] = []
    for part in result.content:
        if isinstance(part, TextContent):
            text = part.text[:left]
            left -= len(text)
            more = len(part.text) - len(text)
            part = TextContent(
                f"{text}\n[{more:,} more characters were left out.]" if more else text
            )
        found.append(part)
    return found
