"""A fast stream is read a few times while words come by the hundred; a slow one at each word."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from gatewright.agent.errors import FailureKind, ProviderError
from gatewright.agent.providers.protocol import Alive, Piece, TextPiece
from gatewright.agent.providers.streams.streamed import _joined  # pyright: ignore[reportPrivateUsage]
from gatewright.agent.providers.transport import connection as connections
from gatewright.agent.providers.transport.connection import MANY, QUICK, Connection
from tests.fakes.waiting import PATIENCE


async def told(words: int, pause: float) -> list[bytes]:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        del reader
        for _ in range(words):
            writer.write(b"word ")
            await writer.drain()
            await asyncio.sleep(pause)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    connection = Connection(*await asyncio.open_connection("127.0.0.1", port))
    got: list[bytes] = []
    try:
        while data := await connection.read(limit=PATIENCE):
            got.append(data)
    finally:
        connection.close()
        server.close()
    return got


async def test_a_fast_stream_is_gathered_and_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "QUICK", 1.0)  # a busy machine takes long for every word
    monkeypatch.setattr(connections, "GATHER", 0.1)
    got = await told(600, 0.0005)
    assert b"".join(got) == b"word " * 600
    assert len(got) < 300  # it would be nearly as many as words


async def test_a_slow_stream_is_told_word_by_word() -> None:
    assert await told(MANY + 20, QUICK * 3) == [b"word "] * (MANY + 20)


def test_text_that_came_before_a_failure_is_given() -> None:
    def failing() -> Iterator[Piece]:
        yield from (TextPiece("a"), TextPiece("b"), Alive(), TextPiece("c"))
        raise ProviderError(FailureKind.OVERLOADED, "too many")

    found: list[Piece] = []
    with pytest.raises(ProviderError):
        found.extend(_joined(failing()))
    assert found == [TextPiece("ab"), Alive(), TextPiece("c")]
