"""A server in the process of a client of ours: its messages go over the client's own line."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import (
    INTERNAL_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCRequest,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from gatewright.mcp.talk.stdio import Inbound, Streams

# The name of a server and a message to it; its answer, or nothing of use for a notification.
Carry: TypeAlias = Callable[[str, dict[str, Any]], Awaitable[Mapping[str, Any]]]
NO_ANSWER = "The client answered with what is no answer of the protocol."


@asynccontextmanager
async def carried_transport(name: str, carry: Carry) -> AsyncGenerator[Streams]:
    to_us, inbound = anyio.create_memory_object_stream[Inbound](64)
    outbound, from_us = anyio.create_memory_object_stream[SessionMessage](0)
    going = _Going(name, carry, to_us)
    taking = asyncio.create_task(going.take(from_us), name=f"messages to {name}")
    try:
        yield inbound, outbound
    finally:
        taking.cancel()
        await asyncio.wait([taking])
        await going.close()
        for stream in (to_us, inbound, outbound, from_us):
            stream.close()


class _Going:
    """The messages on their way, side by side: a call must not keep the one that cancels it."""

    def __init__(self, name: str, carry: Carry, out: MemoryObjectSendStream[Inbound]) -> None:
        self._name, self._carry, self._out = name, carry, out
        self._tasks: dict[object, asyncio.Task[None]] = {}

    async def take(self, messages: MemoryObjectReceiveStream[SessionMessage]) -> None:
        with contextlib.suppress(anyio.EndOfStream, anyio.ClosedResourceError):
            async for each in messages:
                message = each.message.model_dump(by_alias=True, mode="json", exclude_unset=True)
                if message.get("method") == "notifications/cancelled":
                    cancelled = message.get("params", {}).get("requestId")
                    if (task := self._tasks.get(cancelled)) is not None:
                        task.cancel()  # which takes the request back from the client
                    continue
                key = each.message.id if isinstance(each.message, JSONRPCRequest) else object()
                sending = self._one(message, key)
                self._tasks[key] = asyncio.create_task(sending, name=f"a message to {self._name}")

    async def _one(self, message: dict[str, Any], key: object) -> None:
        try:
            answer: Mapping[str, Any] = await self._carry(self._name, message)
        except OSError as refused:
            answer = {"error": {"code": INTERNAL_ERROR, "message": str(refused)}}
        finally:
            self._tasks.pop(key, None)
        if "id" not in message:
            return
        try:
            given = {"jsonrpc": "2.0", **answer, "id": message["id"]}
            read = jsonrpc_message_adapter.validate_python(given, by_name=False)
        except ValidationError:
            error = ErrorData(code=INTERNAL_ERROR, message=NO_ANSWER)
            read = JSONRPCError(jsonrpc="2.0", id=message["id"], error=error)
        with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            await self._out.send(SessionMessage(read))

    async def close(self) -> None:
        left = list(self._tasks.values())
        for task in left:
            task.cancel()
        if left:
            await asyncio.wait(left)
