"""A session and a client at the two ends of a line in one process: real ends, no child between."""

from __future__ import annotations

import asyncio
import io
import json
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import jsonschema

from gatewright.agent.client.far_line import LineEnded
from gatewright.agent.client.remote import RemoteSession, join
from gatewright.agent.frontends.reader import LineReader
from gatewright.agent.frontends.sdk.stream_input import Duplex, Ends
from gatewright.agent.frontends.sdk.stream_json import Dialect
from gatewright.agent.frontends.turn import Follower
from gatewright.agent.record.ids import new_id
from gatewright.agent.subcommands.schema import Name, document
from tests.fakes.executor import FakeExecutor
from tests.fakes.house import House, house
from tests.fakes.waiting import PATIENCE

OUTPUT: Any = jsonschema.Draft202012Validator(document(Name.OUTPUT))
INPUT: Any = jsonschema.Draft202012Validator(document(Name.INPUT))


class Pipe:
    """Implements `Line`; every line of both sides is checked and kept."""

    def __init__(self, built: House) -> None:
        self.told: list[dict[str, Any]] = []
        self.asked: list[dict[str, Any]] = []
        self._lines: asyncio.Queue[bytes | None] = asyncio.Queue()
        keyboard, self._writer = os.pipe()
        session = built.session
        self.err = io.StringIO()
        ends = Ends(self, self.err, LineReader(keyboard))
        dialect = Dialect(session.id, new_id=new_id)
        self.duplex = Duplex(session, Follower(session), dialect, ends, asks=True)
        self.duplex.serve()
        self.task = asyncio.create_task(self._run())

    async def _run(self) -> int:
        try:
            return await self.duplex.run()
        finally:
            self._lines.put_nowait(None)

    def write(self, text: str, /) -> object:
        line = json.loads(text)
        OUTPUT.validate(line)
        self.told.append(line)
        self._lines.put_nowait(text.encode().rstrip(b"\n"))
        return None

    def inject(self, line: bytes) -> None:
        """What no session of ours would say."""
        self._lines.put_nowait(line)

    def send(self, line: bytes) -> None:
        asked = json.loads(line)
        INPUT.validate(asked)
        self.asked.append(asked)
        if self._writer >= 0:
            os.write(self._writer, line)

    async def next(self) -> bytes:
        line = await self._lines.get()
        if line is None:
            self._lines.put_nowait(None)
            raise LineEnded("The line has ended.")
        return line

    async def close(self, *, at_once: bool = False) -> None:
        del at_once
        if self._writer >= 0:
            os.close(self._writer)
            self._writer = -1
        await asyncio.wait([self.task], timeout=PATIENCE)

    def cut(self) -> None:
        """The session's end is gone."""
        self._lines.put_nowait(None)


@asynccontextmanager
async def wired(
    script: str, *, executor: FakeExecutor | None = None
) -> AsyncGenerator[tuple[RemoteSession, House, Pipe]]:
    async with house(script, executor=executor, interactive=True) as built:
        pipe = Pipe(built)
        remote = await join(pipe)
        try:
            yield remote, built, pipe
        finally:
            await remote.close()
