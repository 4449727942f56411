"""Which servers run in the sandbox: those that say so, and those that the person wants there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from gatewright.agent.extensions.contribution import part_of
from gatewright.agent.extensions.host import Host
from gatewright.agent.servers.approvals import ServerAnswers
from gatewright.agent.settings.workspace import Surroundings
from gatewright.mcp.definitions import Definition, Sandboxed
from gatewright.tools.protocol import Spawn
from gatewright.tools.system.processes import spawn

if TYPE_CHECKING:
    from gatewright.permissions.sandbox.servers import ServerConfinement

AS_COMMANDS = Sandboxed()


def confines(
    definition: Definition, around: Surroundings, answers: ServerAnswers
) -> Sandboxed | None:
    """How far the sandbox is opened to it; None: it runs outside.

    Where the person put it there, what a project writes of more does not count. A program that
    prints headers of a server of the project's is one of the project's, too.
    """
    helps = definition.remote and definition.headers_helper and definition.source == "project"
    if definition.transport != "stdio" and not helps:
        return None
    how, of_project = around.settings.mcp.sandbox, definition.source == "project"
    said = of_project and answers.said(around.where.root, definition.signature) == "sandbox"
    wanted = how == "all" or (how == "project" and of_project) or said
    if wanted and of_project:
        return AS_COMMANDS
    return definition.sandbox or (AS_COMMANDS if wanted else None)


class Confining:
    def __init__(self, host: Host, answers: ServerAnswers) -> None:
        self._host, self._answers = host, answers
        self._confinement: ServerConfinement | None = None
        self.chosen: set[str] = set()  # signatures, in this session, kept or not

    def spawn(self, definition: Definition, env: Mapping[str, str]) -> Spawn:
        """How its program is started, with what its definition gives it."""
        far = self._far(definition)
        if far is None:
            return spawn
        from gatewright.permissions.sandbox.servers import Confines  # noqa: PLC0415  lazy: 6 ms

        wanted = Confines(definition.name, far.network, far.write, env)
        return self._confined().starting(spawn, wanted)

    def _confined(self) -> ServerConfinement:
        """Loaded with the first server that runs in the sandbox."""
        if self._confinement is None:
            from gatewright.permissions.sandbox.commands import CommandSandbox  # noqa: PLC0415  lazy: 6 ms
            from gatewright.permissions.sandbox.servers import ServerConfinement  # noqa: PLC0415  lazy: 6 ms

            host = self._host
            self._confinement = ServerConfinement(
                lambda: part_of(host.brought, CommandSandbox), host.warn
            )
        return self._confinement

    def told(self, definition: Definition) -> str:
        """In what bounds it would run; empty where it runs outside."""
        far = self._far(definition)
        if far is None:
            return ""
        more = [f"reaches {each}" for each in far.network]
        more += [f"writes in {each}" for each in far.write]
        return "it may do what commands may" + (f", and it {', '.join(more)}" if more else "")

    def far(self, definition: Definition, around: Surroundings) -> Sandboxed | None:
        """How far the sandbox is opened to it, as settings are in these surroundings."""
        if definition.signature in self.chosen:
            return AS_COMMANDS
        return confines(definition, around, self._answers)

    def _far(self, definition: Definition) -> Sandboxed | None:
        return self.far(definition, self._host.around)
