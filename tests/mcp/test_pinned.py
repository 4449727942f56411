"""The address that was judged is the one that is connected to, whatever a name stands for next."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest

from gatewright.mcp.network.addresses import Depth, Judged, judged, wrong_address
from gatewright.mcp.network.pinned import Pinned, pinned
from gatewright.mcp.oauth.asking import Asking
from gatewright.mcp.oauth.errors import LoginFailed
from gatewright.mcp.talk.remote import Answered, client

CREDENTIALS, PUBLIC, NOBODY = "169.254.169.254", "93.184.216.34", "127.0.0.2"


class Place:
    """Counts who came, and keeps what they asked."""

    def __init__(self) -> None:
        self.heads: list[str] = []
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.heads.append((await reader.readuntil(b"\r\n\r\n")).decode())
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok")
        await writer.drain()
        writer.close()


@asynccontextmanager
async def listening() -> AsyncGenerator[Place]:
    place = Place()
    async with await asyncio.start_server(place.serve, "127.0.0.1", 0) as server:
        place.port = server.sockets[0].getsockname()[1]
        yield place


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Sequence[str]]]:
    """What a name stands for, one look after the other; the last answer stays."""
    answers: list[Sequence[str]] = []

    async def looked_up(self: object, host: str, port: int, **more: Any) -> list[Any]:
        del self, host, more
        found = answers.pop(0) if len(answers) > 1 else answers[0]
        return [(2, 1, 6, "", (address, port)) for address in found]

    monkeypatch.setattr(asyncio.BaseEventLoop, "getaddrinfo", looked_up)
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    yield answers


@pytest.mark.parametrize("second", [CREDENTIALS, PUBLIC])
async def test_a_server_whose_name_changes_its_mind_is_not_connected_to(
    names: list[Sequence[str]], second: str
) -> None:
    async with listening() as place:
        url = f"http://tools.example:{place.port}/mcp"
        names[:] = [["127.0.0.1"], [second]]
        assert not await wrong_address(url)
        async with client({}, Answered()) as made:
            with pytest.raises(httpx2.ConnectError, match="not one to be followed"):
                await made.get(url)
        assert not place.heads


async def test_a_server_is_where_it_was_when_it_was_judged(names: list[Sequence[str]]) -> None:
    """And no second answer of a name server leads anywhere else, were it as good as the first."""
    async with listening() as place:
        url = f"http://tools.example:{place.port}/mcp"
        names[:] = [["127.0.0.1"], ["127.0.0.2"]]
        where = await judged(url)
        assert isinstance(where, Judged)
        assert (where.addresses, where.deepest) == (("127.0.0.1",), "loopback")
        async with client({}, Answered(where=where)) as made:
            for _ in range(2):
                assert (await made.get(url)).text == "ok"
        assert len(place.heads) == 2
        other = Judged("tools.example", place.port, (NOBODY,), "public")
        async with client({}, Answered(where=other)) as made:  # in public: never in here
            names[:] = [["127.0.0.1"]]
            with pytest.raises(httpx2.ConnectError, match="not one to be followed"):
                await made.get(f"http://else.example:{place.port}/mcp")
        assert len(place.heads) == 2


async def test_a_login_server_whose_name_changes_its_mind_is_not_asked(
    names: list[Sequence[str]],
) -> None:
    names[:] = [["10.0.0.1"], ["127.0.0.1"]]
    async with listening() as place, Asking("private") as asking:
        request = httpx2.Request("GET", f"http://login.example:{place.port}/")
        with pytest.raises(LoginFailed, match="not one to be followed"):
            await asking.send(request)
        assert not place.heads


async def test_the_next_address_is_tried_and_the_name_stays_that_of_the_host(
    names: list[Sequence[str]],
) -> None:
    names[:] = [[NOBODY, "127.0.0.1"]]
    async with listening() as place, client({}, Answered()) as made:
        answer = await made.get(f"http://tools.example:{place.port}/mcp")
        assert answer.text == "ok"
        assert f"host: tools.example:{place.port}" in place.heads[0].lower()


@pytest.mark.parametrize(
    ("deepest", "address"), [("public", "10.0.0.1"), ("private", "127.0.0.1"), ("public", "::1")]
)
async def test_deeper_than_was_judged_is_not_gone(
    names: list[Sequence[str]], deepest: Depth, address: str
) -> None:
    names[:] = [[address]]
    async with httpx2.AsyncClient(transport=Pinned(deepest)) as made:
        with pytest.raises(httpx2.ConnectError, match="not one to be followed"):
            await made.get("https://tools.example:1/")


@pytest.mark.parametrize(
    ("name", "here"), [("NO_PROXY", True), ("HTTP_PROXY", False), ("https_proxy", False)]
)
def test_a_proxy_looks_names_up_itself(
    monkeypatch: pytest.MonkeyPatch, names: list[Sequence[str]], name: str, *, here: bool
) -> None:
    del names
    monkeypatch.delenv("HTTPS_PROXY", raising=False)
    monkeypatch.delenv("https_proxy", raising=False)
    monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert (pinned("public") is not None) == here
