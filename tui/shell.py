"""The person's own commands (`! cmd`): run as they are, shown, and told to the model next time."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from pathlib import Path
from typing import NamedTuple

LIMIT = 600.0
MAX_BYTES = 200_000


class Ran(NamedTuple):
    command: str
    output: str
    exit: int
    ms: int

    def for_model(self) -> str:
        """What the model reads with the next message."""
        return f"I ran this command myself:\n$ {self.command}\n{self.output}\n(exit {self.exit})"


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
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGTERM)
        return True

    async def run(self, command: str, cwd: Path) -> Ran:
        start = time.monotonic()
        shell = os.environ.get("SHELL", "/bin/sh")
        self._process = process = await asyncio.create_subprocess_exec(
            shell,
            "-c",
            command,
            cwd=cwd,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
        assert process.stdout is not None
        kept = bytearray()
        try:
            async with asyncio.timeout(LIMIT):
                while chunk := await process.stdout.read(65536):
                    kept += chunk
                    if len(kept) > 2 * MAX_BYTES:
                        del kept[: len(kept) - MAX_BYTES]
                code = await process.wait()
        except TimeoutError:
            self.stop()
            code = await process.wait()
        finally:
            self._process = None
        text = kept[-MAX_BYTES:].decode("utf-8", "replace")
        return Ran(command, text, code, round((time.monotonic() - start) * 1000))
