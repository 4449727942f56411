"""Programs that read the project for a whole session and change nothing of it.

They see what commands see, write in one directory of their own, and reach no network unless they
are given all of it. As nothing of theirs has to be looked after, nothing wakes up for them.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from gatewright.permissions.sandbox.limits import Limits
from gatewright.permissions.sandbox.profile import Network, Wider
from gatewright.tools.protocol import SpawnRequest, ToolFailure

if TYPE_CHECKING:
    from gatewright.permissions.sandbox.commands import CommandSandbox
    from gatewright.permissions.sandbox.confinement import Sandbox
    from gatewright.permissions.sandbox.running.janitor import Janitor
    from gatewright.permissions.sandbox.running.launches import Launches

FOLDER = "readers"


class Reader(msgspec.Struct, frozen=True):
    """What a program may besides reading: a directory by this name, and memory of its own."""

    name: str
    network: bool = False
    memory: int = 0


class ReaderConfinement:
    """Confines such programs, where anything can."""

    def __init__(self, sandbox: Callable[[], CommandSandbox | None]) -> None:
        self._sandbox = sandbox
        self._launches: Launches | None = None
        self._janitor: Janitor | None = None

    async def confined(self, request: SpawnRequest, reader: Reader) -> SpawnRequest | None:
        """The request as one inside; None: nothing confines programs here. ToolFailure."""
        sandbox = self._sandbox()
        box = await sandbox.opened() if sandbox is not None else None
        if sandbox is None or box is None or sandbox.temp is None:
            return None
        own = sandbox.temp / FOLDER / reader.name
        own.mkdir(parents=True, exist_ok=True)
        return self._made(box, request, reader, own)

    def _made(self, box: Sandbox, request: SpawnRequest, reader: Reader, own: Path) -> SpawnRequest:
        from gatewright.permissions.sandbox.disk import covers, survey  # noqa: PLC0415  loaded with the box
        from gatewright.permissions.sandbox.linux import mount_check  # noqa: PLC0415
        from gatewright.permissions.sandbox.running import environment  # noqa: PLC0415
        from gatewright.permissions.sandbox.running.janitor import Janitor  # noqa: PLC0415
        from gatewright.permissions.sandbox.running.launches import Launches, Order  # noqa: PLC0415

        sight = box.look()
        if sight.hopeless:
            raise ToolFailure(covers.refusal(survey.MAX_DIRECTORIES))
        network = Network("open") if reader.network else Network()
        wider = Wider(network=network)
        profile = box.profile(request.cwd, sight, request.env.get("PATH", ""), wider)
        place = os.path.realpath(own)
        limits = Limits(box.config.limits.nproc, reader.memory, tmp=box.config.limits.tmp)
        profile = replace(
            profile,
            writable=(place,),
            seen=(*profile.seen, *box.roots),
            temp=place,
            anchors=(),
            protected=(),
            limits=limits,
        )
        if self._launches is None:
            self._janitor = Janitor(box.machine.python)  # the commands' own may end before ours
            self._launches = Launches(box.machine, "bwrap", self._janitor)
        launches = self._launches
        order = Order(
            profile,
            environment.scrubbed(request.env, box.config.secrets),
            mounts=mount_check.expected(profile),
        )
        run, made = launches.made(order, request.argv)
        return msgspec.structs.replace(
            made,
            fds=(*request.fds, *made.fds),
            stdin=request.stdin,
            errors=request.errors,
            dies_with_us=request.dies_with_us,
            ended=lambda: launches.taken_away(run),
        )

    def close(self) -> None:
        if self._launches is not None:
            self._launches.close()
        if self._janitor is not None:
            self._janitor.close()
