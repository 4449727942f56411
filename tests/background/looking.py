"""Front ends of a background session as tests play them: plain sockets, and lines of JSON."""

from __future__ import annotations

import asyncio
import itertools
import json
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from gatewright.agent.autonomy.running.viewers import Viewers
from gatewright.agent.client.port import SessionClient
from tests.fakes.waiting import PATIENCE

Line = dict[str, Any]


class Watched:
    """The socket of a session in this process, which any process may come to."""

    def __init__(self, session: SessionClient, path: Path) -> None:
        self.path, self.counts, self.stops = path, list[int](), 0
        self.fronts: list[Front] = []
        self.viewers = Viewers(
            session,
            path,
            conversations="/nowhere",
            stop=self._stop,
            changed=self.counts.append,
            refused=lambda peer, kept: "",  # see test_peers
        )

    def _stop(self) -> None:
        self.stops += 1

    async def front(self) -> Front:
        """One that connects; it is closed with the test."""
        self.fronts.append(await Front.at(self.path))
        return self.fronts[-1]


@asynccontextmanager
async def watched(session: SessionClient, folder: Path) -> AsyncGenerator[Watched]:
    made = Watched(session, folder / "s")
    try:
        yield made
    finally:
        await made.viewers.close("The test is over.")
        for front in made.fronts:
            front.writer.close()
            await front.writer.wait_closed()


class Front:
    """One end that connects, asks and reads."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self.writer = reader, writer
        self._numbers = itertools.count(1)
        self.told: list[Line] = []

    @classmethod
    async def at(cls, path: Path) -> Front:
        return cls(*await asyncio.open_unix_connection(str(path), limit=1 << 26))

    async def next(self) -> Line | None:
        """None at the end."""
        async with asyncio.timeout(PATIENCE):
            line = await self._reader.readline()
        if not line:
            return None
        self.told.append(json.loads(line))
        return self.told[-1]

    async def until(self, kind: str, /, **inside: object) -> Line:
        while (line := await self.next()) is not None:
            event = line.get("event") or line.get("response") or line
            if line["type"] == kind and all(event.get(k) == v for k, v in inside.items()):
                return line
        raise AssertionError(f"the line ended before a {kind}")

    async def ask(self, subtype: str, **more: object) -> Line:
        id = f"r{next(self._numbers)}"
        request = {"subtype": subtype, **more}
        body = {"type": "control_request", "request_id": id, "request": request}
        self.writer.write(json.dumps(body).encode() + b"\n")
        found = await self.until("control_response", request_id=id)
        response: Line = found["response"]
        return response

    def leave(self) -> None:
        self.writer.close()


def deaf(path: Path) -> socket.socket:
    """One that connects and asks to follow, and never reads."""
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    made.connect(str(path))
    body = {"type": "control_request", "request_id": "r", "request": {"subtype": "session_follow"}}
    made.sendall(json.dumps(body).encode() + b"\n")
    return made
