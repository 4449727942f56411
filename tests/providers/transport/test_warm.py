"""A connection that is there before the request: used once there is one, else let go of."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

import pytest

from gatewright.agent.errors import ProviderError
from gatewright.agent.providers.transport.http import DirectTransport
from gatewright.agent.providers.transport.port import Timeouts
from tests.fakes.waiting import PATIENCE, eventually

ANSWER = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


class Server:
    """Counts who came, who left, and what was asked over which connection."""

    def __init__(self) -> None:
        self.came = self.left = 0
        self.asked: list[int] = []
        self.writers: list[asyncio.StreamWriter] = []
        self.url = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        number = self.came = self.came + 1
        self.writers.append(writer)
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                await reader.readuntil(b"\r\n\r\n")
                self.asked.append(number)
                writer.write(ANSWER)
        self.left += 1
        writer.close()


@asynccontextmanager
async def server_at() -> AsyncGenerator[Server]:
    server = Server()
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    server.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1/messages"
    yield server
    listening.close()
    for writer in server.writers:
        writer.close()


async def ask(transport: DirectTransport, url: str) -> bytes:
    async with transport.send(url, {}, None) as answer:
        return b"".join([chunk async for chunk in answer.chunks()])


async def test_the_request_goes_over_the_connection_that_is_there() -> None:
    async with server_at() as server:
        transport = DirectTransport({})
        await transport.warm(server.url)
        await eventually(lambda: server.came == 1)
        await transport.warm(server.url)  # one is enough
        assert await ask(transport, server.url) == b"ok"
        assert await ask(transport, server.url) == b"ok"
        assert (server.came, server.asked) == (1, [1, 1])
        await transport.close()


async def test_a_request_waits_for_the_connection_that_is_being_made() -> None:
    async with server_at() as server:
        transport = DirectTransport({})
        warming = asyncio.create_task(transport.warm(server.url))
        await asyncio.sleep(0)
        assert await ask(transport, server.url) == b"ok"
        await warming
        assert server.came == 1
        await transport.close()


async def test_none_is_made_beside_a_request_under_way() -> None:
    async with server_at() as server:
        transport = DirectTransport({})
        async with transport.send(server.url, {}, None):
            await transport.warm(server.url)
        assert server.came == 1
        await transport.close()


async def test_one_that_the_server_closed_meanwhile_is_made_anew() -> None:
    async with server_at() as server:
        transport = DirectTransport({})
        await transport.warm(server.url)
        await eventually(lambda: bool(server.writers))
        server.writers[0].transport.abort()
        assert await ask(transport, server.url) == b"ok"
        assert (server.came, server.asked) == (2, [2])
        await transport.close()


async def test_nothing_is_told_of_a_server_that_is_not_there() -> None:
    transport = DirectTransport({})
    for url in ("http://127.0.0.1:1/", "no address"):
        await transport.warm(url)
        with pytest.raises(ProviderError):
            await ask(transport, url)
    await transport.close()


async def test_one_that_nobody_uses_is_let_go_of() -> None:
    async with server_at() as server:
        transport = DirectTransport({}, Timeouts(kept=0.05))
        await transport.warm(server.url)
        await eventually(lambda: server.left == 1)
        assert await ask(transport, server.url) == b"ok"
        await transport.close()


async def test_a_closed_transport_keeps_none() -> None:
    async with server_at() as server:
        transport = DirectTransport({})
        warming = asyncio.create_task(transport.warm(server.url))
        await asyncio.sleep(0)
        await transport.close()
        await warming
        await eventually(lambda: server.left == server.came)


async def test_whoever_stops_warming_leaves_nobody_waiting() -> None:
    async with server_at() as server:
        transport = DirectTransport({})
        warming = asyncio.create_task(transport.warm(server.url))
        await asyncio.sleep(0)
        asking = asyncio.create_task(ask(transport, server.url))
        await asyncio.sleep(0)
        warming.cancel()
        assert await asyncio.wait_for(asking, PATIENCE) == b"ok"
        await transport.close()


async def test_a_connection_that_rested_long_is_not_trusted() -> None:
    async with server_at() as server:
        transport = DirectTransport({}, Timeouts(kept=0.0))
        assert await ask(transport, server.url) == b"ok"
        assert await ask(transport, server.url) == b"ok"
        assert server.asked == [1, 2]
        await transport.close()
