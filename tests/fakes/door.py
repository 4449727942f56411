"""A session behind a Unix socket in the test's own process, for any number of viewers."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TypeAlias

from gatewright.agent.client.port import SessionClient
from gatewright.agent.client.serving import Served
from tests.fakes.waiting import PATIENCE


class Out:
    """Implements `Sink`."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    def write(self, text: str, /) -> object:
        self._writer.write(text.encode())
        return None


class Door:
    """`served` are those that look now."""

    def __init__(self, session: SessionClient, path: Path) -> None:
        self.session = session
        self.path = path
        self.served: list[Served] = []
        self.writers: list[asyncio.StreamWriter] = []
        self.asked: list[str] = []  # what was asked of it, by its name

    async def take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        served = Served(self.session, Out(writer))
        self.served.append(served)
        self.writers.append(writer)
        try:
            while line := await reader.readline():
                asked = json.loads(line)
                self.asked.append(asked["request"]["subtype"])
                served.take(asked["request_id"], asked["request"])
        finally:
            self.served.remove(served)
            await served.close()
            self.writers.remove(writer)

    def slam(self) -> None:
        """As if the process had been killed."""
        for writer in self.writers:
            writer.transport.abort()


Handle: TypeAlias = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def listening(path: Path, handle: Handle) -> AsyncGenerator[None]:
    """Whoever connects is handled; at the end each of them has been, and is gone."""
    tasks: set[asyncio.Task[None]] = set()

    async def handled(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(ConnectionError):
                await handle(reader, writer)
        finally:
            writer.transport.abort()
            with suppress(ConnectionError):
                await writer.wait_closed()

    def came(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(asyncio.create_task(handled(reader, writer)))

    server = await asyncio.start_unix_server(came, path, limit=2**26)
    try:
        yield
    finally:
        server.close()
        if tasks:
            await asyncio.wait(tasks, timeout=PATIENCE)


@asynccontextmanager
async def door(session: SessionClient) -> AsyncGenerator[Door]:
    with tempfile.TemporaryDirectory(prefix="gw-") as folder:  # a short name: sockets need one
        made = Door(session, Path(folder) / "s")
        async with listening(made.path, made.take):
            try:
                yield made
            finally:
                made.slam()
