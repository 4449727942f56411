"""A server as a child process: our own transport for the SDK.

The SDK's own takes 12 s for a line of 40 MB and 4 s to end a stubborn server; this one is linear
and bounded, and starts processes through the one port for it.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TypeAlias

import anyio
import msgspec
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import INTERNAL_ERROR, ErrorData, JSONRPCError, jsonrpc_message_adapter
from pydantic import ValidationError

from gatewright.mcp.serverlog import ServerLog
from gatewright.mcp.talk.lines import Drip, Lines, Oversized
from gatewright.tools.protocol import Child, Spawn, SpawnRequest
from gatewright.tools.system.pipes import Drain

TOO_LONG = "The server sent a message of more than 32 MiB, which was left out."
TERM_AFTER, KILL_AFTER = 0.1, 0.4  # seconds, each after the one before
Inbound: TypeAlias = SessionMessage | Exception
Streams: TypeAlias = tuple[
    MemoryObjectReceiveStream[Inbound], MemoryObjectSendStream[SessionMessage]
]


class Ended(msgspec.Struct):
    """How the process ended; `code` stays None until it has. `alone`: nobody asked it to."""

    code: int | None = None
    pid: int = 0
    alone: bool = False


@asynccontextmanager
async def child_transport(
    request: SpawnRequest, spawn: Spawn, log: ServerLog, ended: Ended
) -> AsyncGenerator[Streams]:
    """Raises ToolFailure where it cannot be started. Nothing of it is left afterwards."""
    their_in, our_out = os.pipe()
    our_err, their_err = os.pipe()
    try:
        child = await spawn(
            msgspec.structs.replace(request, stdin=their_in, errors=their_err, dies_with_us=True)
        )
    except BaseException:
        os.close(our_out)
        os.close(our_err)
        raise
    finally:
        os.close(their_in)
        os.close(their_err)
    ended.pid = child.pid
    writer, drain = _Writer(our_out), Drain(our_err, log.add)
    to_us, inbound = anyio.create_memory_object_stream[Inbound](64)
    outbound, from_us = anyio.create_memory_object_stream[SessionMessage](0)
    reading = asyncio.create_task(_read(child, to_us, log, ended), name="reading a server")
    writing = asyncio.create_task(_write(writer, from_us), name="writing to a server")
    try:
        yield inbound, outbound
    finally:
        ended.alone = child.code is not None
        writing.cancel()
        writer.close()
        ending = asyncio.create_task(_end(child, ended), name="ending a server")
        await _whatever_happens(ending)
        reading.cancel()
        await asyncio.wait([reading, writing])
        drain.rest()
        drain.close()
        for stream in (to_us, inbound, outbound, from_us):
            stream.close()


async def _whatever_happens(task: asyncio.Task[None]) -> None:
    """Wait for it even when we are cancelled meanwhile, and be cancelled then."""
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await task
        raise


async def _read(
    child: Child, out: MemoryObjectSendStream[Inbound], log: ServerLog, ended: Ended
) -> None:
    lines, drip = Lines(), Drip()
    with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        async with out:
            while chunk := await child.read():
                for line in lines.feed(chunk):
                    if (message := _message(line, log)) is not None:
                        await out.send(message)
                await drip.after(chunk)
            ended.code = await child.wait()


def _message(line: bytes | Oversized, log: ServerLog) -> SessionMessage | None:
    if isinstance(line, Oversized):
        log.add(f"{TOO_LONG}\n".encode())
        if line.id is None:
            return None
        error = ErrorData(code=INTERNAL_ERROR, message=TOO_LONG)
        return SessionMessage(JSONRPCError(jsonrpc="2.0", id=line.id, error=error))
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValidationError:
        log.add(line + b"\n")
        return None


async def _write(out: _Writer, messages: MemoryObjectReceiveStream[SessionMessage]) -> None:
    with contextlib.suppress(OSError, anyio.EndOfStream, anyio.ClosedResourceError):
        async with messages:
            async for each in messages:
                text = each.message.model_dump_json(by_alias=True, exclude_unset=True)
                await out.write(text.encode() + b"\n")


async def _end(child: Child, ended: Ended) -> None:
    """Its input has ended: that is a word, the signals are the louder ones."""
    for number, wait in ((signal.SIGINT, TERM_AFTER), (signal.SIGTERM, KILL_AFTER)):
        if child.code is not None:
            break
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, number)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(wait):
                await child.wait()
    await child.kill(0.0)
    ended.code = child.code


class _Writer:
    """Writes to a pipe without blocking."""

    def __init__(self, fd: int) -> None:
        os.set_blocking(fd, False)
        self._fd = fd
        self._loop = asyncio.get_running_loop()
        self._ready: asyncio.Future[None] | None = None

    async def write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            if self._fd < 0:
                raise BrokenPipeError
            try:
                view = view[os.write(self._fd, view[: 1024 * 1024]) :]
            except BlockingIOError:
                self._ready = self._loop.create_future()
                self._loop.add_writer(self._fd, self._wake)
                await self._ready

    def _wake(self) -> None:
        self._loop.remove_writer(self._fd)
        if self._ready is not None and not self._ready.done():
            self._ready.set_result(None)

    def close(self) -> None:
        if self._fd >= 0:
            self._loop.remove_writer(self._fd)
            os.close(self._fd)
            self._fd = -1
