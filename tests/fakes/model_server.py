"""A model server on the loopback interface, played from a script, that can misbehave.

Besides the lines of a script (see `tests.fakes.scripted_provider`) an answer may have

    status: 529 retry_after=2 body=...   an HTTP status instead of an answer
    header: name value                   one more response header
    chunks: 1                            the body in writes of that many bytes
    trickle: 1                           the body byte by byte, so many seconds apart
    framing: close                       no chunked encoding: the end of the connection ends it
    delay: 0.2                           seconds of silence
    ping:                                a sign of life
    double:                              the first words of a text also in its block's start
    atonce: / noindex:                   calls in one piece / without their index
    words: 200                           text in pieces of that size
    raw: data: {oops                     these bytes as they are, \n escaped
    nostop:                              no event behind the stop reason (Responses has none)
    drop: / hang: / half:                reset, fall silent, or half-close here
    json:                                one JSON document instead of a stream

Amazon's address of the Messages API gets Amazon's framing of the same events.

Run it alone with `python -m tests.fakes.model_server SCRIPT [--repeat] [--record FILE]`; the first
line it prints is its port.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import socket
import struct
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.fakes import amazon
from tests.fakes.scripted_provider import Answer, Line, read_script
from tests.fakes.scripts import RENDER, WHOLE, error_body, error_event, has
from tests.fakes.waiting import PATIENCE

LIMIT = 30.0
GATED = 100.0  # seconds: longer than a test waits for what comes before


@dataclass
class Recorded:
    method: str
    path: str
    headers: dict[str, str]
    raw: bytes
    body: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass
class _Wire:
    """How one answer is written."""

    writer: asyncio.StreamWriter
    chunk: int = 0
    chunked: bool = True
    pause: float = 0.0

    async def send(self, data: bytes) -> None:
        step = self.chunk or len(data)
        for start in range(0, len(data), step):
            part = data[start : start + step]
            self.writer.write(b"%x\r\n%s\r\n" % (len(part), part) if self.chunked else part)
            await self.writer.drain()
            if self.chunk:
                await asyncio.sleep(self.pause)  # so that the peer sees the pieces apart

    async def end(self) -> None:
        if self.chunked:
            self.writer.write(b"0\r\n\r\n")
        await self.writer.drain()


class ModelServer:
    """`async with ModelServer(script) as server:`; each POST takes the next answer."""

    def __init__(self, script: str | Sequence[Answer] = "", *, repeat: bool = False) -> None:
        self.requests: list[Recorded] = []
        self.connections = 0
        self.models = ["fake"]
        self.facts: dict[str, dict[str, int]] = {}  # what the list says of a model besides
        self.key = ""  # the only one that a list is given for; any, where there is none
        self.port = 0
        self._answers = read_script(script) if isinstance(script, str) else tuple(script)
        # What conversations that begin with these words are answered, apart from all others.
        self.tasks: dict[str, list[Answer]] = {}
        self._repeat = repeat
        self._given = 0
        self._gates: dict[tuple[str, str], asyncio.Event] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def url(self) -> str:
        """For ANTHROPIC_BASE_URL."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def openai_url(self) -> str:
        """For OPENAI_BASE_URL."""
        return f"{self.url}/v1"

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [request.body for request in self.requests if request.method == "POST"]

    def release(self, name: str) -> None:
        gate = self._gate("released", name)
        if self._loop is not None:  # another thread may say it
            self._loop.call_soon_threadsafe(gate.set)

    async def reached(self, name: str) -> None:
        await asyncio.wait_for(self._gate("reached", name).wait(), PATIENCE)

    async def start(self, port: int = 0) -> None:
        self._loop = asyncio.get_running_loop()
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        if self._server is not None:
            self._server.close()
        await self.hang_up()

    async def hang_up(self) -> None:
        """End every connection: one that waits at a gate does not see that nobody listens."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def __aenter__(self) -> ModelServer:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.stop()

    def _gate(self, kind: str, name: str) -> asyncio.Event:
        return self._gates.setdefault((kind, name), asyncio.Event())

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while (request := await _read(reader)) is not None:
                self.requests.append(request)
                if not await self._respond(request, writer):
                    break
        self._tasks.discard(task)
        writer.close()

    async def _respond(self, request: Recorded, writer: asyncio.StreamWriter) -> bool:
        """Whether the connection lives on."""
        if request.method == "GET":
            return await self._list(request, writer)
        api = _api_of(request.path.partition("?")[0])
        answer = self._of_task(request.body) or self._next()
        if answer is None or not api:
            await whole(writer, 500, {}, b'{"error":{"message":"The script has no answer."}}')
            return True
        first = next((line for line in answer if line.verb not in ("header", "delay")), None)
        headers = dict(_headers(answer))
        for line in answer:
            if line.verb == "delay" and first is not line:
                await asyncio.sleep(float(line.text))
            if line is first:
                break
        if first is not None and first.verb == "error":
            status, more, body = error_body(first)
            await whole(writer, status, headers | more, body)
            return True
        if first is not None and first.verb == "status":
            await _status(writer, first, headers)
            return True
        if request.path.endswith(amazon.ADDRESS):
            body = b"".join(map(amazon.framed, RENDER[api](answer, self._given)))
            await whole(writer, 200, {"content-type": amazon.MEDIA_TYPE}, body)
            return True
        return await self._stream(api, answer, writer, headers)

    def _of_task(self, body: dict[str, Any]) -> Answer | None:
        for words, own in self.tasks.items():
            if own and words in json.dumps(body.get("messages", [])[:1]):
                return own.pop(0)
        return None

    def _next(self) -> Answer | None:
        number = self._given
        self._given += 1
        if number < len(self._answers):
            return self._answers[number]
        return self._answers[-1] if self._repeat and self._answers else None

    async def _list(self, request: Recorded, writer: asyncio.StreamWriter) -> bool:
        given = request.headers.get("authorization", "") or request.headers.get("x-api-key", "")
        if self.key and given.removeprefix("Bearer ") != self.key:
            await whole(writer, 401, {}, b'{"error":{"message":"invalid key"}}')
            return True
        listed = [
            {"id": name, "object": "model", "type": "model", **self.facts.get(name, {})}
            for name in self.models
        ]
        await whole(writer, 200, {}, json.dumps({"object": "list", "data": listed}).encode())
        return True

    async def _stream(
        self, api: str, answer: Answer, writer: asyncio.StreamWriter, headers: dict[str, str]
    ) -> bool:
        if has(answer, "json"):
            await whole(writer, 200, headers, json.dumps(WHOLE[api](answer, 1)).encode())
            return True
        size = next((int(line.text) for line in answer if line.verb == "chunks"), 0)
        pause = next((float(line.text) for line in answer if line.verb == "trickle"), 0.0)
        framing = next((line.text.strip() for line in answer if line.verb == "framing"), "")
        wire = _Wire(writer, 1 if pause else size, chunked=framing != "close", pause=pause)
        head = {"content-type": "text/event-stream; charset=utf-8", **headers}
        if wire.chunked:
            head["transfer-encoding"] = "chunked"
        else:
            head["connection"] = "close"
        writer.write(_head(200, head))
        for item in RENDER[api](answer, self._given):
            if isinstance(item, bytes):
                await wire.send(item)
            elif not await self._act(api, item, wire):
                return False
        await wire.end()
        return wire.chunked

    async def _act(self, api: str, line: Line, wire: _Wire) -> bool:
        """Do what a line says; False ends the connection."""
        match line.verb:
            case "wait":
                self._gate("reached", line.text.strip()).set()
                released = self._gate("released", line.text.strip())
                await asyncio.wait_for(released.wait(), GATED)
            case "delay":
                await asyncio.sleep(float(line.text))
            case "raw":
                await wire.send(line.text.replace("\\n", "\n").encode("utf-8", "surrogateescape"))
            case "error":
                await wire.send(error_event(api, line))
                await wire.end()
                return False
            case "cut":
                await wire.end()
                return False
            case "drop":
                _reset(wire.writer)
                return False
            case "half":
                wire.writer.write_eof()
                await asyncio.sleep(LIMIT)
                return False
            case "hang":
                await asyncio.sleep(LIMIT)
                return False
            case _:
                pass
        return True


def _api_of(path: str) -> str:
    if path.endswith((":streamRawPredict", amazon.ADDRESS)):
        return "/messages"  # Google's and Amazon's addresses of the same API
    return next((end for end in RENDER if path.endswith(end)), "")


def _headers(answer: Answer) -> Iterator[tuple[str, str]]:
    for line in answer:
        if line.verb == "header":
            name, _, value = line.text.strip().partition(" ")
            yield name, value


async def _read(reader: asyncio.StreamReader) -> Recorded | None:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.strip().split("\r\n")
    method, path, _ = first.split(" ", 2)
    pairs = (line.partition(":") for line in lines)
    headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
    raw = await reader.readexactly(int(headers.get("content-length", "0")))
    return Recorded(method, path, headers, raw, json.loads(raw) if raw else {})


def _head(status: int, headers: dict[str, str]) -> bytes:
    lines = [
        f"HTTP/1.1 {status} Whatever",
        *(f"{name}: {value}" for name, value in headers.items()),
    ]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


async def whole(
    writer: asyncio.StreamWriter, status: int, headers: dict[str, str], body: bytes
) -> None:
    framed = {"content-type": "application/json", "content-length": str(len(body)), **headers}
    writer.write(_head(status, framed) + body)
    await writer.drain()


async def _status(writer: asyncio.StreamWriter, line: Line, headers: dict[str, str]) -> None:
    options = line.options()
    body = options.get("body", "").encode()
    if "retry_after" in options:
        headers["retry-after"] = options["retry_after"]
    await whole(writer, int(options[""]), headers, body)


def _reset(writer: asyncio.StreamWriter) -> None:
    """A reset, not an orderly end."""
    found: socket.socket = writer.get_extra_info("socket")
    found.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


class ServerThread:
    """The same server in its own thread, for tests that block on the real program."""

    def __init__(
        self, script: str = "", *, repeat: bool = False, server: ModelServer | None = None
    ) -> None:
        self.server = server or ModelServer(script, repeat=repeat)
        self._ready = threading.Event()
        self._stop: asyncio.Event | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), daemon=True)

    def __enter__(self) -> ModelServer:
        self._thread.start()
        assert self._ready.wait(LIMIT)
        return self.server

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._loop is not None
        assert self._stop is not None
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(LIMIT)

    async def _run(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        async with self.server:
            self._ready.set()
            await self._stop.wait()


async def _alone(script: str, *, repeat: bool, record: Path | None) -> None:
    server = ModelServer(script, repeat=repeat)
    await server.start()
    print(server.port, flush=True)
    seen = 0
    while True:
        await asyncio.sleep(0.05)
        if record is not None and len(server.requests) > seen:
            with record.open("a", encoding="utf-8") as file:
                for request in server.requests[seen:]:
                    fields = {"path": request.path, "headers": request.headers}
                    file.write(json.dumps({**fields, "body": request.body}) + "\n")
            seen = len(server.requests)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("script", type=Path)
    parser.add_argument("--repeat", action="store_true")
    parser.add_argument("--record", type=Path)
    given = parser.parse_args()
    text = given.script.read_text(encoding="utf-8")
    asyncio.run(_alone(text, repeat=given.repeat, record=given.record))


if __name__ == "__main__":
    main()
