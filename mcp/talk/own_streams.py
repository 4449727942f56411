"""The protocol over our own standard streams, which it has for itself while it is served.

In threads, since a descriptor of any kind may be there; no line, no flood and no client that does
not read makes us take more than so much.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import queue
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import TypeAlias, TypeVar

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp_types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCRequest,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from gatewright.mcp.talk.lines import Drip, Lines, Oversized
from gatewright.mcp.talk.stdio import Inbound, Streams

CHUNK = 256 * 1024
MOST_UNANSWERED = 256  # requests; nothing more is read until some are answered
TOO_LONG = "The message has more than 32 MiB and was left out."
UNREADABLE = "This line is no message of the protocol."
REFUSED = ServerMessageMetadata()  # marks what answers no request that went further
T = TypeVar("T")
Send: TypeAlias = MemoryObjectSendStream[SessionMessage]


def standard_streams() -> tuple[int, int]:
    """Standard input and output for the protocol alone.

    From then on everybody else in the process reads nothing and writes to standard error.
    """
    read, write = (fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 3) for fd in (0, 1))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return read, write


@asynccontextmanager
async def own_streams(read: int, write: int) -> AsyncGenerator[Streams]:
    """The descriptors stay open: a thread may still wait in one when we leave."""
    to_server, inbound = anyio.create_memory_object_stream[Inbound](0)
    outbound, from_server = anyio.create_memory_object_stream[SessionMessage](0)
    unanswered = _Unanswered()
    refusals = outbound.clone()
    reading = asyncio.create_task(_read(read, to_server, refusals, unanswered), name="requests")
    writing = asyncio.create_task(_write(write, from_server, to_server, unanswered), name="answers")
    try:
        yield inbound, outbound
        refusals.close()  # the server has closed its own: what is left is written, and that is it
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(1.0):
                await asyncio.wait([writing])
    finally:
        reading.cancel()
        writing.cancel()
        await asyncio.wait([reading, writing])
        for stream in (to_server, inbound, outbound, from_server, refusals):
            stream.close()


class _Unanswered:
    """How many requests have no answer yet."""

    def __init__(self) -> None:
        self._count = 0
        self._room = asyncio.Event()
        self._room.set()

    async def one_more(self) -> None:
        await self._room.wait()
        self._count += 1
        if self._count >= MOST_UNANSWERED:
            self._room.clear()

    async def one_less(self) -> None:
        self._count -= 1
        if self._count < MOST_UNANSWERED:
            self._room.set()


async def _read(
    fd: int, out: MemoryObjectSendStream[Inbound], refusals: Send, unanswered: _Unanswered
) -> None:
    lines, drip, aside = Lines(), Drip(), Aside("protocol input")
    ended = (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError)
    with contextlib.suppress(*ended):
        async with out:
            while chunk := await aside.do(partial(os.read, fd, CHUNK)):
                for line in lines.feed(chunk):
                    message = _message(line, unanswered)
                    if message.metadata is REFUSED:
                        await refusals.send(message)
                        continue
                    if isinstance(message.message, JSONRPCRequest):
                        await unanswered.one_more()
                    await out.send(message)
                await drip.after(chunk)


def _message(line: bytes | Oversized, unanswered: _Unanswered) -> SessionMessage:
    """What the client said, or what it is answered to what cannot be read."""
    if isinstance(line, Oversized):
        error = ErrorData(code=INVALID_REQUEST, message=TOO_LONG)
        return SessionMessage(JSONRPCError(jsonrpc="2.0", id=line.id, error=error), REFUSED)
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError:
        error = ErrorData(code=PARSE_ERROR, message=UNREADABLE)
        return SessionMessage(JSONRPCError(jsonrpc="2.0", id=None, error=error), REFUSED)
    told = ServerMessageMetadata(on_request_unanswered=unanswered.one_less)
    return SessionMessage(message, told)


async def _write(
    fd: int,
    messages: MemoryObjectReceiveStream[SessionMessage],
    to_server: MemoryObjectSendStream[Inbound],
    unanswered: _Unanswered,
) -> None:
    aside = Aside("protocol output")
    try:
        async with messages:
            async for each in messages:
                text = each.message.model_dump_json(by_alias=True, exclude_unset=True)
                await aside.do(partial(_write_all, fd, text.encode() + b"\n"))
                answers = isinstance(each.message, JSONRPCResponse | JSONRPCError)
                if answers and each.metadata is not REFUSED:
                    await unanswered.one_less()
    except OSError:
        to_server.close()  # nobody hears us: as if the client had said that it leaves


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


class Aside:
    """Does work that blocks, one after another, in a thread that nobody waits for in the end."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.get_running_loop()
        self._work: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        threading.Thread(target=self._run, name=name, daemon=True).start()

    async def do(self, work: Callable[[], T]) -> T:
        """Raises what it raises, an OSError."""
        done: asyncio.Future[T] = self._loop.create_future()
        self._work.put(partial(self._one, work, done))
        return await done

    def _one(self, work: Callable[[], T], done: asyncio.Future[T]) -> None:
        try:
            result = work()
        except OSError as error:
            self._tell(partial(_failed, done, error))
        else:
            self._tell(partial(_done, done, result))

    def _tell(self, settle: Callable[[], None]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody wants to know
            self._loop.call_soon_threadsafe(settle)

    def _run(self) -> None:
        while True:
            self._work.get()()


def _done(future: asyncio.Future[T], result: T) -> None:
    if not future.done():
        future.set_result(result)


def _failed(future: asyncio.Future[T], error: OSError) -> None:
    if not future.done():
        future.set_exception(error)
