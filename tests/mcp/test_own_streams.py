"""The protocol over our own descriptors: long lines, garbage, and a client that does not read."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from gatewright.mcp.served import Offer, ServedCall
from gatewright.mcp.talk.own_streams import own_streams
from gatewright.mcp.talk.serving import serve
from gatewright.tools.protocol import Progress, ToolResult
from tests.fakes.waiting import PATIENCE, eventually, lasting


class Echo:
    """A tool that says what it was given."""

    async def offers(self, client: str, *, asks: bool) -> list[Offer]:
        return [Offer(name="echo", description="", schema={"type": "object"})]

    async def run(self, call: ServedCall) -> ToolResult:
        call.heard(Progress("on the way", seconds=1.0))
        return ToolResult.text(str(call.arguments.get("text", "")))

    async def close(self) -> None: ...


class Line:
    """The client's end, as bytes."""

    def __init__(self, to: int, of: int) -> None:
        self._to, self._of, self._rest = to, of, b""

    def send(self, *messages: dict[str, Any]) -> bytes:
        texts = (json.dumps({"jsonrpc": "2.0", **message}) for message in messages)
        return "".join(f"{text}\n" for text in texts).encode()

    async def write(self, data: bytes) -> None:
        await asyncio.to_thread(_all, self._to, data)

    async def next(self) -> dict[str, Any]:
        while b"\n" not in self._rest:
            chunk = await asyncio.to_thread(os.read, self._of, 65536)
            assert chunk, "the server has left"
            self._rest += chunk
        line, _, self._rest = self._rest.partition(b"\n")
        return dict(json.loads(line))


def _all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


HELLO = {
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
READY = {"method": "notifications/initialized"}


def call(id: int, text: str = "hi") -> dict[str, Any]:
    params = {"name": "echo", "arguments": {"text": text}}
    return {"id": id, "method": "tools/call", "params": params}


@asynccontextmanager
async def served() -> AsyncGenerator[Line]:
    ours, theirs = os.pipe()
    back, out = os.pipe()

    async def work() -> None:
        async with own_streams(ours, out) as streams:
            await serve(Echo(), streams, "1")

    serving = asyncio.create_task(work())
    line = Line(theirs, back)
    try:
        await line.write(line.send(HELLO))
        assert (await line.next())["id"] == 0
        await line.write(line.send(READY))
        yield line
    finally:
        os.close(theirs)
        await asyncio.wait_for(serving, PATIENCE)
        for fd in (ours, back, out):
            os.close(fd)


async def test_a_line_of_40_mb_fails_alone() -> None:
    async with served() as line:
        await line.write(line.send(call(1, "x" * 40_000_000)))
        refused = await line.next()
        assert refused["id"] == 1
        assert "32 MiB" in refused["error"]["message"]
        await line.write(line.send(call(2)))
        answer = await line.next()
        assert answer["id"] == 2
        assert answer["result"]["content"] == [{"type": "text", "text": "hi"}]


async def test_garbage_is_answered_and_forgotten() -> None:
    async with served() as line:
        deep = b"[" * 100_000
        await line.write(b"hello\n\n[]\n" + deep + b"\n\xff\xfe\n" + line.send({"id": 1}))
        for _ in range(5):
            refused = await line.next()
            assert refused["id"] is None
            assert refused["error"]["code"] == -32700
        await line.write(line.send(call(2)))
        assert (await line.next())["id"] == 2


async def test_a_client_that_does_not_read_is_read_no_more() -> None:
    count = 3_000
    async with served() as line:
        text = "x" * 500
        data = line.send(*(call(id, text) for id in range(1, count)))
        writing = asyncio.create_task(line.write(data))
        assert await lasting(lambda: not writing.done(), 1.0)
        seen = {(await line.next())["id"] for _ in range(1, count)}
        assert seen == set(range(1, count))
        await eventually(writing.done)


async def test_a_client_whose_ear_is_gone_has_left() -> None:
    ours, theirs = os.pipe()
    back, out = os.pipe()

    async def work() -> None:
        async with own_streams(ours, out) as streams:
            await serve(Echo(), streams, "1")

    serving = asyncio.create_task(work())
    os.close(back)
    line = Line(theirs, -1)
    await line.write(line.send(HELLO))
    await asyncio.wait_for(serving, PATIENCE)
    for fd in (ours, theirs, out):
        os.close(fd)
