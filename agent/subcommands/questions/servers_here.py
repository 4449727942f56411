"""The MCP servers that a session started here would have, without a session."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence

from gatewright.agent.extensions.servers.confining import confines
from gatewright.agent.extensions.servers.logins import logins
from gatewright.agent.extensions.servers.mcp_session import definitions, state_of
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.servers.approvals import ServerAnswers
from gatewright.agent.servers.written import written
from gatewright.agent.settings.workspace import roots, survey
from gatewright.mcp.definitions import Definition
from gatewright.mcp.errors import NotConnected
from gatewright.mcp.known import KnownServers
from gatewright.mcp.ports import Ports
from gatewright.mcp.server import Server, State, load
from gatewright.mcp.surroundings import Around
from gatewright.tools.protocol import Spawn
from gatewright.tools.system.processes import spawn

LIMIT = 10.0  # seconds for each, all at once
ALONE = 60.0  # for one that is asked about alone
AT_ONCE = 20
CONFINED = "it runs in the sandbox of a session, and is tried there"


class ServersHere:
    """Raises GatewrightError where the current directory is gone."""

    def __init__(self) -> None:
        self.around = survey(LaunchOptions(), os.environ, interactive=False)
        found = written(self.around)
        self.answers = ServerAnswers(self.around.places.state)
        self.configured = definitions(found.layers, found.choices, self.around)
        self.problems = [*found.problems, *(fault.text() for fault in self.configured.faults)]
        self._choices = found.choices

    def state(self, definition: Definition) -> str:
        return state_of(definition, self.around, self._choices, self.answers)

    def standing(self) -> tuple[dict[str, str], tuple[str, ...]]:
        """The state of each by its name, without connecting any, and what is wrong."""
        return {each.name: self.state(each) for each in self.configured.servers}, (*self.problems,)

    def find(self, name: str) -> Definition | None:
        return next((each for each in self.configured.servers if each.name == name), None)

    def tried(self, wanted: Sequence[Definition]) -> list[Server]:
        """These, after those that may run were connected, all at once."""
        return asyncio.run(self._tried(wanted))

    async def _tried(self, wanted: Sequence[Definition]) -> list[Server]:
        limit = ALONE if len(wanted) == 1 else LIMIT
        ports = self._ports()
        servers = [
            Server(
                each,
                ports,
                state=state_of(each, self.around, self._choices, self.answers),
            )
            for each in wanted
        ]
        await asyncio.to_thread(load)  # no server is late because we are
        try:
            await asyncio.gather(*(s.settle(limit) for s in servers if self._is_tried(s)))
        finally:
            states: list[State] = [server.state for server in servers]
            await asyncio.gather(*(server.close() for server in servers))
        for server, reached in zip(servers, states, strict=True):
            state = reached
            if state == "pending":
                state, server.error = "failed", f"it did not answer within {limit:.0f} s"
            server.state = state
            if server.usable and not self._is_tried(server):
                server.error = CONFINED
        return servers

    def _is_tried(self, server: Server) -> bool:
        confined = confines(server.definition, self.around, self.answers) is not None
        return server.usable and not confined

    @property
    def place(self) -> Around:
        around = self.around
        return Around(
            spawn=spawn,
            root=around.where.root,
            avoid=roots(around.where),
            env=around.env,
            given=around.secrets.given(around.env),
            own_env=around.own_env,
            own=around.places.home,
            login=logins(around.env, around.places.state),
            confined=self._confined,
        )

    def _confined(self, definition: Definition, env: Mapping[str, str]) -> Spawn:
        """Whatever runs in the sandbox of a session is not started without one."""
        del env
        if confines(definition, self.around, self.answers) is not None:
            raise NotConnected(CONFINED)
        return spawn

    def _ports(self) -> Ports:
        around, place = self.around, self.place
        return Ports(
            around=lambda: place,
            roots=lambda: (around.where.root,),
            known=KnownServers(around.places.state / "mcp", keeps=False),
            logs=around.places.home / "logs" / "mcp",
            told=_nobody,
            stdio=asyncio.Semaphore(AT_ONCE),
            remote=asyncio.Semaphore(AT_ONCE),
            cap=lambda: around.settings.mcp.max_result_chars,
            alone=True,
        )


def _nobody(text: str) -> None:
    """Who asked is told by the state."""
    del text
