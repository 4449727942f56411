"""A session that nobody looks at calls the person: what the desktop here has for that, if anything.

Never more than one call at a time, each bounded; a desktop that cannot be reached is no error.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from gatewright.agent.autonomy.running.running_record import Record
from gatewright.agent.settings.schema import Ui
from gatewright.agent.text.printable import visible
from gatewright.tools.protocol import SpawnRequest, ToolFailure
from gatewright.tools.system.processes import NOWHERE, printed
from gatewright.tools.system.programs import find

LIMIT = 5.0
CALLS = {"needs you": "needs you", "done": "is done", "failed": "has failed"}
DESKTOP = ("DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS")


class Attention:
    def __init__(self, env: Mapping[str, str], cwd: Path) -> None:
        self._env, self._cwd = env, cwd
        self._calling: asyncio.Task[object] | None = None

    def call(self, record: Record, ui: Ui) -> None:
        """For states that call; where somebody looks, the screen does."""
        what = CALLS.get(record.state, "")
        if not what or record.viewers or ui.notify not in (True, "desktop"):
            return
        argv = way(self._env, self._cwd)
        if argv and (self._calling is None or self._calling.done()):
            body = visible(" ".join((record.ask or record.why or record.title).split()))
            request = self._request((*argv, f"agent: {record.id[:13]} {what}", body))
            self._calling = asyncio.create_task(_run(request), name="a call for the person")

    def _request(self, argv: Sequence[str]) -> SpawnRequest:
        if sys.platform == "darwin":  # text is an argument there, and no part of the script
            script = "on run a\ndisplay notification (item 2 of a) with title (item 1 of a)\nend"
            argv = (argv[0], "-e", script, *argv[1:])
        return SpawnRequest(argv=tuple(argv), cwd=Path("/"), env=self._env, errors=NOWHERE)

    async def close(self) -> None:
        if self._calling is not None:
            await asyncio.wait({self._calling})


async def _run(request: SpawnRequest) -> None:
    try:
        await printed(request, seconds=LIMIT, keep=0)
    except ToolFailure:
        return


def way(env: Mapping[str, str], cwd: Path) -> tuple[str, ...]:
    """The program that calls, with what stands before title and text; empty where none can."""
    if sys.platform == "darwin":
        return ("/usr/bin/osascript",) if os.path.exists("/usr/bin/osascript") else ()  # noqa: PTH110
    if not any(env.get(name) for name in DESKTOP):
        return ()
    program = find("notify-send", env, [cwd])
    return (program, "--app-name=agent", "--") if program else ()
