"""The person's own commands (`! cmd`): run as they are, shown, and told to the model next time."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from pathlib import Path
from typing import NamedTuple

from gatewright.tools.system.programs import find, with_search_path
from gatewright.tools.system.project import here

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
        self._process: asyncio.subprocess.Process | None = None

    @property
    def running(self) -> bool:
        return self._process is not None

    def stop(self) -> bool:
        """End the running command; False when none runs."""
        if self._process is None:
            return False
        _signal(self._process, signal.SIGTERM)
        return True

    async def close(self) -> None:
        """The program ends, and with it all that the command started."""
        process = self._process
        if process is None:
            return
        for number in (signal.SIGTERM, signal.SIGKILL):
            _signal(process, number)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(GRACE):
                    await process.wait()

    async def run(self, command: str, cwd: Path) -> Ran:
        start = time.monotonic()
        self._process = process = await _begun(command, cwd)
        assert process.stdout is not None
        kept = Tail(MAX_BYTES)
        try:
            async with asyncio.timeout(LIMIT):
                while chunk := await process.stdout.read(65536):
                    kept.feed(chunk)
                code = await process.wait()
        except TimeoutError:
            _signal(process, signal.SIGKILL)
            code = await process.wait()
        finally:
            self._process = None
            if process.returncode is None or not process.stdout.at_eof():  # nobody waits any more
                await _ended(process)
        ms = round((time.monotonic() - start) * 1000)
        return Ran(command, kept.text(), code, ms, kept.hidden)


async def _begun(command: str, cwd: Path) -> asyncio.subprocess.Process:
    """The process with its group; whoever stops waiting while it begins has ended both."""
    around = here(os.environ, cwd)
    shell = os.environ.get("SHELL") or "/bin/sh"
    if "/" not in shell:
        shell = find(shell, os.environ, around) or "/bin/sh"
    starting = asyncio.ensure_future(
        asyncio.create_subprocess_exec(
            shell,
            "-c",
            command,
            cwd=cwd,
            env=with_search_path(os.environ, around),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
    )
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        await _ended(await starting)
        raise


async def _ended(process: asyncio.subprocess.Process) -> None:
    """Killed with its group; what left the group may hold its output for ever."""
    _signal(process, signal.SIGKILL)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(GRACE):
            await process.communicate()


def _signal(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    """To the whole group."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, number)
