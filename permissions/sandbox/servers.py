"""Programs that serve for the whole session, under the profile of commands.

What somebody said yes to opens more to one of them: domains of its own and directories to write in.
Where there is no sandbox none of them is started.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import msgspec

from gatewright.permissions.sandbox.naming import spelled
from gatewright.permissions.sandbox.places import absolute
from gatewright.permissions.sandbox.profile import Network, Wider
from gatewright.tools.protocol import Child, Spawn, SpawnRequest, ToolFailure

if TYPE_CHECKING:
    from gatewright.permissions.sandbox.commands import CommandSandbox
    from gatewright.permissions.sandbox.confinement import Sandbox
    from gatewright.permissions.sandbox.network.bridge import Bridge
    from gatewright.permissions.sandbox.network.egress import Egress

NONE = "It is not started without the sandbox. {}"
ABSENT = "Nothing hides files from programs here."


@dataclass(frozen=True, slots=True)
class Confines:
    """What is opened to a program besides what commands may do; `env` was given to it by name."""

    name: str
    domains: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    env: Mapping[str, str] | None = None


class ServerConfinement:
    """Starts such programs; `warn` hears what the sandbox has to say of them."""

    def __init__(
        self, sandbox: Callable[[], CommandSandbox | None], warn: Callable[[str], None]
    ) -> None:
        self._sandbox, self._warn = sandbox, warn
        self._open: list[tuple[Egress, Confines]] = []

    def starting(self, spawn: Spawn, confines: Confines) -> Spawn:
        """A spawn that confines what it starts; it raises ToolFailure where that cannot be."""

        async def confined(request: SpawnRequest) -> Child:
            sandbox = self._sandbox()
            box = await sandbox.opened() if sandbox is not None else None
            if sandbox is None or box is None:
                why = sandbox.status if sandbox is not None else ""
                raise ToolFailure(NONE.format(why or ABSENT))
            return await spawn(self._confined(box, request, confines))

        return confined

    def _confined(self, box: Sandbox, request: SpawnRequest, confines: Confines) -> SpawnRequest:
        network = widened(box.config.network, confines.domains)
        given = confines.env or {}
        wider = Wider(writes=_directories(box, confines), network=network, env=given)
        egress, bridge = self._bridge(network)
        if egress is not None:
            self._open.append((egress, confines))
        request_env = {name: text for name, text in request.env.items() if name not in given}
        inner = msgspec.structs.replace(request, env=request_env)
        command = f"MCP server {confines.name}"
        made = box.confine(inner, self._told, command=command, wider=wider, bridge=bridge)
        ended = made.ended

        def over() -> None:
            self._open[:] = [each for each in self._open if each[0] is not egress]
            if ended is not None:
                ended()

        return msgspec.structs.replace(
            made,
            stdin=request.stdin,
            errors=request.errors,
            dies_with_us=request.dies_with_us,
            ended=over,
        )

    def _bridge(self, network: Network) -> tuple[Egress, Bridge] | tuple[None, None]:
        if network.reach != "proxy":
            return None, None
        from gatewright.permissions.sandbox.network.bridge import Bridge  # noqa: PLC0415  lazy: 8 ms
        from gatewright.permissions.sandbox.network.egress import Egress  # noqa: PLC0415  lazy
        from gatewright.permissions.sandbox.network.proxy import Proxy  # noqa: PLC0415  lazy

        egress = Egress(network)  # nobody is asked about what is not named
        return egress, Bridge(Proxy(egress), asyncio.get_running_loop())

    def follow(self, network: Network) -> None:
        """Settings say something else: at once also for those that run."""
        for egress, confines in self._open:
            egress.network = widened(network, confines.domains)

    def _told(self, texts: list[str]) -> None:
        for text in texts:
            self._warn(f"Sandbox: {spelled(text)}.".replace("..", "."))


def widened(network: Network, domains: tuple[str, ...]) -> Network:
    """With these names to be reached besides; what is denied stays so."""
    if not domains or network.reach == "open":
        return network
    return replace(network, reach="proxy", allowed=(*network.allowed, *domains))


def _directories(box: Sandbox, confines: Confines) -> tuple[str, ...]:
    home = os.path.realpath(box.config.home)
    found: list[str] = []
    for text in confines.writes:
        path = absolute(text, str(box.config.cwd), home, box.roots)
        if not os.path.isdir(path):
            raise ToolFailure(f"Its sandbox lets it write in {text}, which is no directory.")
        found.append(path)
    return tuple(found)
