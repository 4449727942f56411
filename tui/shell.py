"""The person's own commands (`! cmd`): run as they are, shown, and told to the model next time."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from gatewright.tools.protocol import SpawnRequest
from gatewright.tools.system.programs import find, with_search_path
from gatewright.tools.system.project import here

if TYPE_CHECKING:
    from gatewright.tools.system.processes import GroupChild

LIMIT = 600.0
GRACE = 1.0  # seconds to end in when the program does
MAX_BYTES = 200_000


class Ran(NamedTuple):
    """What a command printed at the end; so many lines before that were not kept."""

    command: str
    output: str
    exit: int
    ms: int
    hidden: int = 0

    def shown(self) -> str:
        """What people see, with a line that says what is missing."""
        return f"[... {self.hidden:,} lines]\n{self.output}" if self.hidden else self.output

    def for_model(self) -> str:
        """What the model reads with the next message."""
        gone = f"({self.hidden} lines left out)\n" if self.hidden else ""
        head = f"I ran this command myself:\n$ {self.command}\n"
        return f"{head}{gone}{self.output}\n({self.ended})"

    @property
    def ended(self) -> str:
        """How, in words: nobody knows a signal by its negative number."""
        return "stopped" if self.exit < 0 else f"exit {self.exit}"


class Tail:
    """The last whole lines of a stream, and how many came before them."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._kept = bytearray()
        self.hidden = 0

    def feed(self, chunk: bytes) -> None:
        self._kept += chunk
        if len(self._kept) > 2 * self._size:
            self._trim()

    def _trim(self) -> None:
        cut = len(self._kept) - self._size
        if cut <= 0:
            return
        end = self._kept.find(b"\n", cut - 1) + 1  # a line longer than all that is kept is cut
        if not 0 < end < len(self._kept):
            end = cut
        self.hidden += self._kept.count(b"\n", 0, end)
        del self._kept[:end]

    def text(self) -> str:
        self._trim()
        return self._kept.decode("utf-8", "replace")


class OwnShell:
    """One command at a time, in its own process group."""

    def __init__(self) -> None:
        self._child: GroupChild | None = None
        self._stopped = False

    @property
    def running(self) -> bool:
        return self._child is not None

    def stop(self) -> bool:
        """End the running command; False when none runs."""
        if self._child is None:
            return False
        self._stopped = True
        self._child.hint()
        return True

    async def close(self) -> None:
        """The program ends, and with it all that the command started."""
        if self._child is not None:
            self._stopped = True
            await self._child.kill(GRACE)

    async def run(self, command: str, cwd: Path) -> Ran:
        """ToolFailure where it cannot start. Whoever stops waiting has ended it with its group."""
        from gatewright.tools.system.processes import spawn  # noqa: PLC0415  lazy: 3 ms

        start = time.monotonic()
        self._child = child = await spawn(_request(command, cwd))
        self._stopped = over = False
        kept = Tail(MAX_BYTES)
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LIMIT):
                    while chunk := await child.read():
                        kept.feed(chunk)
                    await child.wait()
                    over = True
        finally:
            self._child = None
            if not over:
                await child.kill(0.0)
        code = -1 if self._stopped or not over else await child.wait()
        ms = round((time.monotonic() - start) * 1000)
        return Ran(command, kept.text(), code, ms, kept.hidden)


def _request(command: str, cwd: Path) -> SpawnRequest:
    """What it leaves running when it ends by itself is left: it is the person's own."""
    around = here(os.environ, cwd)
    shell = os.environ.get("SHELL") or "/bin/sh"
    if "/" not in shell:
        shell = find(shell, os.environ, around) or "/bin/sh"
    env = with_search_path(os.environ, around)
    return SpawnRequest(argv=(shell, "-c", command), cwd=cwd, env=env, leaves=True)
