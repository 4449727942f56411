"""Messages out of typed lines: a paste is one message, and a line that ends in `\\` goes on.

Terminals tell a paste by marks where they were asked to; else by lines that come all at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from gatewright.agent.frontends.reader import LineReader

PASTE, PASTED = "\x1b[200~", "\x1b[201~"
PAUSE = 0.1  # seconds; no hand sends the next line sooner
MOST = 64 * 1024 * 1024  # characters of one message
SIGNS = ("/", "!", "#")  # before what is no message


class Drafts:
    """`bursts` says whether lines that come together belong together now."""

    def __init__(self, reader: LineReader, bursts: Callable[[], bool]) -> None:
        self._reader = reader
        self._bursts = bursts
        self.at = 0.0  # when the first line of the last message came in

    async def next(self) -> str | None:
        """The next message, without the newline at its end; None once the input has ended."""
        line = await self._reader.next()
        self.at = self._reader.at
        if line is None:
            return None
        if PASTE in line:
            return await self._pasted(line)
        if line.endswith("\\"):
            return await self._continued(line)
        if not self._bursts() or line.startswith(SIGNS):
            return line
        return await self._burst(line)

    async def _pasted(self, line: str) -> str:
        lines = [line]
        size = len(line)
        while PASTED not in lines[-1] and size < MOST:
            if (more := await self._reader.next()) is None:
                break
            lines.append(more)
            size += len(more)
        return "\n".join(lines).replace(PASTE, "").replace(PASTED, "").rstrip("\n")

    async def _continued(self, line: str) -> str:
        lines = [line]
        while lines[-1].endswith("\\"):
            lines[-1] = lines[-1][:-1]
            if (more := await self._reader.next()) is None:
                break
            lines.append(more)
        return "\n".join(lines)

    async def _burst(self, line: str) -> str:
        lines = [line]
        size = len(line)
        while size < MOST:
            try:
                async with asyncio.timeout(PAUSE):
                    more = await self._reader.next()
            except TimeoutError:
                break
            if more is None:
                break
            lines.append(more)
            size += len(more)
        return "\n".join(lines).rstrip("\n")
