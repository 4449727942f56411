"""A connection whose wait is cancelled is closed, at whichever moment that happens."""

from __future__ import annotations

import asyncio
import gc
import socket
import ssl
import warnings
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest

from gatewright.agent.providers.transport.address import Address, parse_url
from gatewright.agent.providers.transport.connection import connect
from tests.fakes.waiting import PATIENCE

ROUNDS = 30  # of the loop: more than any way to a connection takes, once it has the processor
MOST = 3000


@asynccontextmanager
async def listening() -> AsyncGenerator[Address]:
    tasks: list[asyncio.Task[None]] = []

    async def until_gone(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while await reader.read(1000):
                pass
        writer.close()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.append(asyncio.ensure_future(until_gone(reader, writer)))

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    try:
        yield parse_url(f"http://localhost:{server.sockets[0].getsockname()[1]}/")
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(*tasks)  # what was reached is hung up on
    finally:
        server.close()


def no_tls() -> ssl.SSLContext:
    raise AssertionError


async def some_rounds(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def test_no_cancelled_wait_loses_its_socket() -> None:
    done = 0
    async with listening() as address:
        with warnings.catch_warnings(record=True) as lost:
            warnings.simplefilter("always")
            for rounds in range(MOST):
                if rounds >= ROUNDS and done > 1:
                    break
                for late in (False, True):
                    task = asyncio.ensure_future(connect(address, None, no_tls))
                    if late:  # the name is known by now: the rest is the loop's own
                        await asyncio.wait([task], timeout=0.001)
                    await some_rounds(rounds)
                    if not task.cancel():
                        done += 1
                        task.result().close()
                    await asyncio.wait([task])
                    if not task.cancelled():
                        task.result().close()
                    del task
                    await some_rounds(5)
            gc.collect()
        assert [str(each.message) for each in lost] == []
    assert done > 1


async def test_an_address_that_refuses_makes_room_for_the_next() -> None:
    """The server listens on one of the two addresses of localhost."""
    async with listening() as address:
        (await connect(address, None, no_tls)).close()
        (await connect(parse_url(f"http://127.0.0.1:{address.port}/"), None, no_tls)).close()


async def test_an_address_that_says_nothing_does_not_hold_up_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with listening() as address:
        loop = asyncio.get_running_loop()
        connecting, asked = loop.sock_connect, list[Any]()

        async def sock_connect(sock: socket.socket, place: Any) -> None:
            asked.append(place)
            await (connecting(sock, place) if place[1] == address.port else asyncio.Event().wait())

        async def getaddrinfo(*_: Any, **__: Any) -> list[Any]:
            return [(socket.AF_INET, 1, 6, "", ("127.0.0.1", port)) for port in (9, address.port)]

        monkeypatch.setattr(loop, "sock_connect", sock_connect)
        monkeypatch.setattr(loop, "getaddrinfo", getaddrinfo)
        (await connect(address, None, no_tls)).close()
        assert [place[1] for place in asked] == [9, address.port]


async def test_nobody_there_is_said() -> None:
    async with listening() as address:
        pass
    with pytest.raises(ConnectionRefusedError):
        await connect(address, None, no_tls)
