"""Plugs agents of other programs in: those that definitions of the person name (`acp`).

Nothing of it is loaded before there is such a definition. Each runs in the sandbox, and none runs
without.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gatewright.agent.agents.kind import AgentKind, OtherPrograms
from gatewright.agent.extensions.contribution import Contribution, part_of
from gatewright.agent.extensions.host import Extension, Host
from gatewright.agent.settings.workspace import Surroundings, roots
from gatewright.tools.protocol import Tool, ToolSpec

if TYPE_CHECKING:
    from gatewright.agent.turn.turns import Elsewhere

PERMISSION = "AcpPermission"
UNCONFINED = "it runs in the sandbox alone, and there is none here. {}"


class ForeignAgents(OtherPrograms):
    """A source of one tool, which offers none, and what starts agents of other programs."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._agents: set[str] = set()  # that were started, by path
        self._unable: str | None = None  # why there is no sandbox, once that was tried

    def refusal(self, kind: AgentKind) -> str:
        if kind.acp is None:
            return ""
        from gatewright.agent.foreign.program_found import lacks  # noqa: PLC0415  only with a definition
        from gatewright.permissions.sandbox.commands import CommandSandbox  # noqa: PLC0415

        sandbox = part_of(self._host.brought, CommandSandbox)
        if sandbox is not None and sandbox.settings.enabled is False:
            return UNCONFINED.format("The sandbox is switched off.")
        if self._unable is None:
            from gatewright.permissions.sandbox.servers import unable  # noqa: PLC0415  lazy: 100 ms, once

            self._unable = unable(sandbox)
        if self._unable:
            return UNCONFINED.format(self._unable)
        around = self._host.around
        return lacks(kind.acp, around.env, roots(around.where))

    def turns(self, agent: str, kind: AgentKind, opening: str, *, tree: bool) -> Elsewhere:
        from gatewright.agent.extensions.foreign.sandboxed_program import turns_in  # noqa: PLC0415  lazy: 20 ms

        self._agents.add(agent)
        return turns_in(self._host, kind, opening, tree=tree)

    # a source of tools

    def specs(self, *, short: bool = False) -> Sequence[ToolSpec]:
        del short
        return ()

    def find(self, name: str) -> Tool[Any] | None:
        if name != PERMISSION or not self._agents:
            return None
        from gatewright.agent.foreign.permission_tool import PermissionTool  # noqa: PLC0415  lazy: 1 ms

        return PermissionTool(self._agents)


async def plug_foreign(host: Host) -> Contribution:
    agents = ForeignAgents(host)
    return Contribution(sources=(agents,), parts=(agents,))


def wanted(around: Surroundings) -> bool:
    """Not where no turn is ever run."""
    return not around.options.served


FOREIGN = Extension(name="agents of other programs", plug=plug_foreign, wanted=wanted)
