"""The way through a SOCKS5 proxy: who looks names up, the login, each refusal a sentence."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import pytest

from gatewright.agent.errors import FailureKind, ProviderError
from gatewright.agent.providers.transport.http import DirectTransport
from tests.providers.transport.test_http import peer_at


@dataclass
class Socks:
    """A proxy that writes down what it was asked, and leads everybody to one server."""

    leads_to: int
    login: bytes = b""
    code: int = 0
    greeting: bytes = b""
    asked: list[bytes] = field(default_factory=list[bytes])
    port: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            await self._serve(reader, writer)
        writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        _, count = await reader.readexactly(2)
        methods = await reader.readexactly(count)
        wanted = 2 if self.login else 0
        if self.greeting or wanted not in methods:
            writer.write(self.greeting or b"\x05\xff")
            return
        writer.write(bytes((5, wanted)))
        if self.login:
            _, length = await reader.readexactly(2)
            user = await reader.readexactly(length)
            password = await reader.readexactly((await reader.readexactly(1))[0])
            good = user + b":" + password == self.login
            writer.write(b"\x01\x00" if good else b"\x01\x01")
            if not good:
                return
        _, _, _, kind = await reader.readexactly(4)
        length = (await reader.readexactly(1))[0] if kind == 3 else {1: 4, 4: 16}[kind]
        self.asked.append(bytes((kind,)) + await reader.readexactly(length))
        await reader.readexactly(2)
        writer.write(bytes((5, self.code, 0, 3, 4)) + b"name" + bytes(2))
        if self.code:
            return
        there, back = await asyncio.open_connection("127.0.0.1", self.leads_to)
        back.write(await reader.readuntil(b"\r\n\r\n"))
        writer.write(await there.readuntil(b"ok"))
        await writer.drain()
        back.transport.abort()


@asynccontextmanager
async def proxy_to(
    port: int, *, login: bytes = b"", code: int = 0, greeting: bytes = b""
) -> AsyncGenerator[Socks]:
    proxy = Socks(port, login, code, greeting)
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
        await server.wait_closed()


async def get(url: str, proxy: str) -> bytes:
    transport = DirectTransport({"ALL_PROXY": proxy})
    try:
        async with transport.send(url, {}, None) as answer:
            return b"".join([chunk async for chunk in answer.chunks()])
    finally:
        await transport.close()


async def test_the_proxy_looks_the_name_up() -> None:
    async with peer_at() as peer, proxy_to(peer.port) as proxy:
        assert await get("http://model.test/v1", f"socks5h://127.0.0.1:{proxy.port}") == b"ok"
    assert proxy.asked == [b"\x03model.test"]
    assert peer.heads[0].startswith("GET /v1 HTTP/1.1\r\nhost: model.test\r\n")


@pytest.mark.parametrize(
    ("host", "asked"),
    [("10.1.2.3", b"\x01\x0a\x01\x02\x03"), ("[2001:db8::1]", b"\x04\x20\x01\x0d\xb8")],
)
async def test_an_address_goes_as_it_is(host: str, asked: bytes) -> None:
    async with peer_at() as peer, proxy_to(peer.port) as proxy:
        assert await get(f"http://{host}/v1", f"socks5://127.0.0.1:{proxy.port}") == b"ok"
    assert proxy.asked[0].startswith(asked)


async def test_without_the_letter_the_name_is_looked_up_here(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loop = asyncio.get_running_loop()
    usual = loop.getaddrinfo

    async def looked_up(host: str, port: int, **more: object) -> object:
        return await usual("10.9.8.7" if host == "model.test" else host, port, type=1)

    monkeypatch.setattr(loop, "getaddrinfo", looked_up)
    async with peer_at() as peer, proxy_to(peer.port) as proxy:
        assert await get("http://model.test/v1", f"socks5://127.0.0.1:{proxy.port}") == b"ok"
    assert proxy.asked == [b"\x01\x0a\x09\x08\x07"]


async def test_a_login_is_given_where_it_is_asked_for() -> None:
    async with peer_at() as peer, proxy_to(peer.port, login=b"us@er:p:w") as proxy:
        place = f"us%40er:p%3Aw@127.0.0.1:{proxy.port}"
        assert await get("http://model.test/", f"socks5h://{place}") == b"ok"


@pytest.mark.parametrize(
    ("user", "words"),
    [("", "let nobody in: it wants a name"), ("me:wrong@", "did not take its name and password")],
)
async def test_a_refused_login_is_a_sentence_without_the_password(user: str, words: str) -> None:
    async with proxy_to(0, login=b"me:right") as proxy:
        with pytest.raises(ProviderError, match=words) as caught:
            await get("http://model.test/", f"socks5h://{user}127.0.0.1:{proxy.port}")
    assert caught.value.kind is FailureKind.REFUSED
    assert "wrong" not in str(caught.value)


@pytest.mark.parametrize(
    ("code", "kind", "words"),
    [
        (2, FailureKind.REFUSED, "its rules forbid it"),
        (4, FailureKind.TRANSPORT, "the host cannot be reached"),
        (99, FailureKind.TRANSPORT, "error 99"),
    ],
)
async def test_a_proxy_that_refuses(code: int, kind: FailureKind, words: str) -> None:
    async with proxy_to(0, code=code) as proxy:
        with pytest.raises(ProviderError, match=f"way to model.test:80: {words}") as caught:
            await get("http://model.test/", f"socks5h://127.0.0.1:{proxy.port}")
    assert caught.value.kind is kind


@pytest.mark.parametrize(
    ("greeting", "words"), [(b"HTTP/1.1 400", "does not speak SOCKS5"), (b"\x05", "closed")]
)
async def test_what_is_no_such_proxy_is_named(greeting: bytes, words: str) -> None:
    async with proxy_to(0, greeting=greeting) as proxy:
        with pytest.raises(ProviderError, match=words):
            await get("http://model.test/", f"socks5h://127.0.0.1:{proxy.port}")
