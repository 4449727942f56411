"""A server in this very process, for what needs no process: it answers by a table of methods."""

from __future__ import annotations

import asyncio
import itertools
import sys
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from gatewright.mcp.talk.stdio import Inbound, Streams

NEAR = {"command": sys.executable}  # how such a server is written down: it is never started


class Unknown(Exception):
    """The method is none of this server's."""


class Near:
    """`answers` are results by method, or functions of the parameters, which may be coroutines."""

    def __init__(self, answers: Mapping[str, Any], *, era: str = "2025-11-25") -> None:
        self.answers: dict[str, Any] = {"tools/list": {"tools": []}, **answers}
        self.capabilities: dict[str, Any] = {
            name: {"listChanged": True} for name in ("tools", "resources", "prompts")
        }
        self.era = era
        self.heard: list[dict[str, Any]] = []
        self.starts = 0
        self._send: Callable[[dict[str, Any]], Any] = print
        self._numbers = itertools.count(1000)
        self._asked: dict[int, asyncio.Future[dict[str, Any]]] = {}

    def of(self, method: str) -> list[dict[str, Any]]:
        """The parameters of every message of the client of that method."""
        found = [each for each in self.heard if each.get("method") == method]
        return [each.get("params", {}) for each in found]

    async def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """A request to the client; its whole answer."""
        id = next(self._numbers)
        answered: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._asked[id] = answered
        await self._send({"id": id, "method": method, "params": params})
        answer: dict[str, Any] = await answered
        return answer

    async def notify(self, method: str, params: dict[str, Any] | None = None) -> None:
        await self._send({"method": method, **({"params": params} if params else {})})

    @asynccontextmanager
    async def transport(self, *_: object) -> AsyncGenerator[Streams]:
        self.starts += 1
        to_client, inbound = anyio.create_memory_object_stream[Inbound](64)
        outbound, from_client = anyio.create_memory_object_stream[SessionMessage](64)

        async def send(message: dict[str, Any]) -> None:
            given = {"jsonrpc": "2.0", **message}
            read = jsonrpc_message_adapter.validate_python(given, by_name=False)
            await to_client.send(SessionMessage(read))

        self._send = send
        working: set[asyncio.Task[None]] = set()

        async def serve() -> None:
            async for each in from_client:
                said = each.message.model_dump(by_alias=True, mode="json", exclude_unset=True)
                self.heard.append(said)
                task = asyncio.create_task(self._answer(said))
                working.add(task)
                task.add_done_callback(working.discard)

        serving = asyncio.create_task(serve())
        try:
            yield inbound, outbound
        finally:
            for task in (serving, *working):
                task.cancel()
            await asyncio.gather(serving, *working, return_exceptions=True)
            for stream in (to_client, inbound, outbound, from_client):
                stream.close()

    async def _answer(self, said: dict[str, Any]) -> None:
        id = said.get("id")
        if "method" not in said:
            if (asked := self._asked.pop(int(id or 0), None)) is not None and not asked.done():
                asked.set_result(said)
            return
        if id is None:
            return
        try:
            result = self._result(str(said["method"]), said.get("params") or {})
            if asyncio.iscoroutine(result):
                result = await result
            await self._send({"id": id, "result": result})
        except Unknown:
            await self._send({"id": id, "error": {"code": -32601, "message": "Method not found"}})
        except ValueError as error:
            await self._send({"id": id, "error": {"code": -32602, "message": str(error)}})

    def _result(self, method: str, params: dict[str, Any]) -> Any:
        made = self.answers.get(method)
        if made is not None:
            return made(params) if callable(made) else made
        hello = {
            "capabilities": self.capabilities,
            "serverInfo": {"name": "near", "version": "1"},
        }
        if method == "initialize" and self.era == "2025-11-25":
            return {"protocolVersion": self.era, **hello}
        if method == "server/discover" and self.era != "2025-11-25":
            more = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
            return {"supportedVersions": [self.era], "capabilities": self.capabilities, **more}
        raise Unknown(method)


def instead(monkeypatch: pytest.MonkeyPatch, *servers: Near) -> None:
    """Whoever starts a program gets these, one after the other, the last one for ever."""
    left = list(servers)

    def transport(*given: object) -> Any:
        near = left[0] if len(left) == 1 else left.pop(0)
        return near.transport(*given)

    monkeypatch.setattr("gatewright.mcp.talk.opening.child_transport", transport)
