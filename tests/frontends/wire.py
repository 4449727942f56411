"""Both ends of the program's streams, without any client library."""

from __future__ import annotations

import asyncio
import io
import json
import os
from typing import Any

import jsonschema

from gatewright.agent.frontends.reader import LineReader
from gatewright.agent.frontends.sdk.agent_lines import BELOW
from gatewright.agent.frontends.sdk.stream_input import Duplex, Ends
from gatewright.agent.frontends.sdk.stream_json import Dialect
from gatewright.agent.frontends.sdk.work_lines import HookLines
from gatewright.agent.frontends.turn import Follower
from gatewright.agent.record.ids import new_id
from gatewright.agent.session.session import Session
from gatewright.agent.subcommands.schema import Name, document
from tests.fakes.waiting import PATIENCE

OUTPUT: Any = jsonschema.Draft202012Validator(document(Name.OUTPUT))


class Wire:
    """Both ends of the program's streams."""

    def __init__(self, session: Session, *, asks: bool = True, hooks: bool = False) -> None:
        self.session = session
        self.lines: list[dict[str, Any]] = []
        self._news = asyncio.Event()
        keyboard, self._writer = os.pipe()
        self.stdin = self._writer
        dialect = Dialect(session.id, new_id=new_id)
        dialect.hooks = HookLines() if hooks else None
        self.err = io.StringIO()
        ends = Ends(self, self.err, LineReader(keyboard))
        follower = Follower(session, below=BELOW, more=True)
        self.duplex = Duplex(session, follower, dialect, ends, asks=asks)
        self.task = asyncio.create_task(self.duplex.run())

    def write(self, text: str, /) -> object:
        line = json.loads(text)
        OUTPUT.validate(line)
        self.lines.append(line)
        self._news.set()
        return None

    def send(self, line: dict[str, Any] | str) -> None:
        text = line if isinstance(line, str) else json.dumps(line)
        os.write(self._writer, text.encode() + b"\n")

    def say(self, text: str) -> None:
        self.send({"type": "user", "message": {"role": "user", "content": text}})

    def ask(self, id: str, subtype: str, **more: Any) -> None:
        request = {"subtype": subtype, **more}
        self.send({"type": "control_request", "request_id": id, "request": request})

    def verdict(self, request: dict[str, Any], **body: Any) -> None:
        response = {"subtype": "success", "request_id": request["request_id"], "response": body}
        self.send({"type": "control_response", "response": response})

    async def until(self, type: str, count: int = 1) -> dict[str, Any]:
        async with asyncio.timeout(PATIENCE):
            while len(found := [line for line in self.lines if line["type"] == type]) < count:
                self._news.clear()
                await self._news.wait()
        return found[count - 1]

    def end(self) -> None:
        if self._writer >= 0:
            os.close(self._writer)
            self._writer = -1

    async def code(self) -> int:
        self.end()
        async with asyncio.timeout(PATIENCE):
            return await self.task
