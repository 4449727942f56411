"""Programs that serve for the whole session, under the profile of commands.

What somebody said yes to opens more to one of them: domains of its own and directories to write in.
Where there is no sandbox none of them is started.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from gatewright.permissions.paths import inside
from gatewright.permissions.sandbox.naming import spelled
from gatewright.permissions.sandbox.places import absolute
from gatewright.permissions.sandbox.profile import Network, Wider
from gatewright.tools.protocol import Child, Spawn, SpawnRequest, ToolFailure

if TYPE_CHECKING:
    from gatewright.permissions.sandbox.commands import CommandSandbox
    from gatewright.permissions.sandbox.confinement import Sandbox
    from gatewright.permissions.sandbox.network.bridge import Bridge

NONE = "It is not started without the sandbox. {}"
ABSENT = "Nothing hides files from programs here."


class Confines(msgspec.Struct, frozen=True):
    """What is opened to a program besides what commands may do; `env` was given to it by name.

    One that is `apart` writes nothing of the project but the work tree that it has, if any.
    """

    name: str
    domains: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    env: Mapping[str, str] | None = None
    kind: str = "MCP server"
    apart: bool = False
    tree: str = ""


def unable(sandbox: CommandSandbox | None) -> str:
    """Why no program is confined wholly here; empty where one is. Tries it out, so ask once."""
    from gatewright.permissions.sandbox.machine import machine  # noqa: PLC0415  lazy: 15 ms
    from gatewright.permissions.sandbox.probe import probe  # noqa: PLC0415  lazy

    if sandbox is None:
        return ABSENT
    if sandbox.settings.enabled is False:
        return "The sandbox is switched off."
    found = probe(machine())
    return "" if found.level == "bwrap" else found.why


class ServerConfinement:
    """Starts such programs; `warn` hears what the sandbox has to say of them."""

    def __init__(
        self, sandbox: Callable[[], CommandSandbox | None], warn: Callable[[str], None]
    ) -> None:
        self._sandbox, self._warn = sandbox, warn

    def starting(self, spawn: Spawn, confines: Confines) -> Spawn:
        """A spawn that confines what it starts; it raises ToolFailure where that cannot be."""

        async def confined(request: SpawnRequest) -> Child:
            sandbox = self._sandbox()
            box = await sandbox.opened() if sandbox is not None else None
            if sandbox is None or box is None:
                why = sandbox.status if sandbox is not None else ""
                raise ToolFailure(NONE.format(why or ABSENT))
            return await spawn(self._confined(sandbox, box, request, confines))

        return confined

    def _confined(
        self, sandbox: CommandSandbox, box: Sandbox, request: SpawnRequest, confines: Confines
    ) -> SpawnRequest:
        network = widened(box.config.network, confines.domains)
        given = confines.env or {}
        wider = Wider(
            writes=_directories(box, confines),
            tree=confines.tree,
            apart=confines.apart,
            network=network,
            env=given,
        )
        inner = msgspec.structs.replace(
            request, env={name: text for name, text in request.env.items() if name not in given}
        )
        made = box.confine(
            inner,
            self._told,
            command=f"{confines.kind} {confines.name}",
            wider=wider,
            bridge=_bridge(sandbox, network, confines.domains),
        )
        return msgspec.structs.replace(
            made,
            stdin=request.stdin,
            errors=request.errors,
            dies_with_us=request.dies_with_us,
        )

    def _told(self, texts: list[str]) -> None:
        for text in texts:
            self._warn(f"Sandbox: {spelled(text)}.".replace("..", "."))


def _bridge(sandbox: CommandSandbox, network: Network, domains: tuple[str, ...]) -> Bridge | None:
    if network.reach != "proxy":
        return None
    from gatewright.permissions.sandbox.network.bridge import Bridge  # noqa: PLC0415  lazy: 8 ms
    from gatewright.permissions.sandbox.network.proxy import Proxy  # noqa: PLC0415  lazy
    from gatewright.permissions.sandbox.network.way_out import WayOut  # noqa: PLC0415  lazy

    async def now() -> Network:
        box = await sandbox.opened()
        return widened(box.config.network, domains) if box is not None else Network()

    return Bridge(Proxy(WayOut(network, now)), asyncio.get_running_loop())


def widened(network: Network, domains: tuple[str, ...]) -> Network:
    """With these names to be reached besides; what is denied stays so."""
    if not domains or network.reach == "open":
        return network
    return replace(network, reach="proxy", allowed=(*network.allowed, *domains))


def _directories(box: Sandbox, confines: Confines) -> tuple[str, ...]:
    """Where it may write besides; what is kept from all that is confined is not opened by name."""
    if not confines.writes:
        return ()
    home, cwd = os.path.realpath(box.config.home), box.config.cwd
    everywhere = box.profile(cwd, wider=Wider(writes=("/",)))
    kept = (*everywhere.protected, *(mask.path for mask in everywhere.masked))
    found: list[str] = []
    places = [absolute(text, str(cwd), home, box.roots) for text in confines.writes]
    for number, text in enumerate(confines.writes):
        others = (each for at, each in enumerate(places) if each and at != number)
        path = absolute(text, str(cwd), home, (*box.roots, *others))  # it may make links there
        if any(inside(path, place) for place in kept):
            raise ToolFailure(f"Its sandbox lets it write in {text}, which no sandbox opens.")
        if not os.path.isdir(path):
            raise ToolFailure(f"Its sandbox lets it write in {text}, which is no directory.")
        found.append(path)
    return tuple(found)
