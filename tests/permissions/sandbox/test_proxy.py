"""The way out: which hosts pass, in which disguises others try, and what is said to them."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from collections.abc import AsyncIterator

import pytest

from gatewright.permissions.sandbox.network.bridge import proxy_env
from gatewright.permissions.sandbox.network.clienthello import read_hello
from gatewright.permissions.sandbox.network.domains import address_of, host_of, matches, private
from gatewright.permissions.sandbox.network.egress import Egress, Refused
from gatewright.permissions.sandbox.network.plain_http import could_be_request
from gatewright.permissions.sandbox.network.proxy import Proxy
from gatewright.permissions.sandbox.profile import Network
from tests.fakes.waiting import PATIENCE


@pytest.mark.parametrize(
    ("rule", "host", "expected"),
    [
        ("example.com", "example.com", True),
        ("example.com", "api.example.com", True),
        ("example.com", "notexample.com", False),
        ("example.com", "example.com.evil.org", False),
        ("EXAMPLE.com.", "example.com", True),
        ("*.example.com", "api.example.com", True),
        ("*.example.com", "example.com", False),
        ("*", "anything.org", True),
        ("10.0.0.1", "10.0.0.1", True),
        ("0.0.1", "10.0.0.1", False),
        ("bücher.example", "xn--bcher-kva.example", True),
    ],
)
def test_hosts_match_by_label(rule: str, host: str, expected: bool) -> None:
    assert matches(rule, host) is expected


@pytest.mark.parametrize(
    "text",
    ["2130706433", "0x7f000001", "0177.0.0.1", "127.1", "1.2.3", "a b", "a/b", "a\\b", "", "-a.com",
     "a..b", "x" * 300, "ex%61mple.com", "a@b"],
)  # fmt: skip
def test_what_is_no_host(text: str) -> None:
    assert host_of(text) == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("127.0.0.1", True), ("10.1.2.3", True), ("172.31.0.1", True), ("192.168.1.1", True),
        ("169.254.169.254", True), ("100.64.0.1", True), ("0.0.0.0", True), ("::1", True),
        ("::", True), ("fe80::1", True), ("fd00::1", True), ("::ffff:10.0.0.1", True),
        ("64:ff9b::7f00:1", True), ("2002:7f00:1::", True), ("224.0.0.1", True),
        ("93.184.216.34", False), ("203.0.113.80", False), ("2606:4700::1111", False),
        ("::ffff:93.184.216.34", False),
    ],
)  # fmt: skip
def test_private_addresses_in_every_wrapping(text: str, expected: bool) -> None:
    address = address_of(text)
    assert address is not None
    assert private(address) is expected


def egress(network: Network, **names: str) -> Egress:
    async def resolve(host: str, port: int) -> tuple[str, ...]:
        return tuple(names.get(host.replace(".", "_"), "93.184.216.34").split())

    return Egress(network, resolve=resolve)


async def refusal(gate: Egress, host: str, port: int = 443) -> str:
    with pytest.raises(Refused) as caught:
        await gate.addresses(host, port)
    return str(caught.value)


async def test_deny_wins_over_allow() -> None:
    gate = egress(Network("proxy", allowed=("example.com",), denied=("bad.example.com",)))
    assert await gate.addresses("ok.example.com", 443) == ("93.184.216.34",)
    assert "denied" in await refusal(gate, "bad.example.com")
    assert "denied" in await refusal(gate, "x.bad.example.com.")


async def test_a_name_that_leads_inside_is_refused() -> None:
    gate = egress(Network("proxy", allowed=("example.com",)), example_com="93.184.216.34 10.0.0.1")
    assert "private network" in await refusal(gate, "example.com")
    allowed = egress(
        Network("proxy", allowed=("example.com",), private=True), example_com="10.0.0.1"
    )
    assert await allowed.addresses("example.com", 443) == ("10.0.0.1",)


async def test_an_address_passes_only_by_its_own_rule() -> None:
    everything = egress(Network("proxy", allowed=("*",)))
    assert "private network" in await refusal(everything, "127.0.0.1")
    assert "private network" in await refusal(everything, "169.254.169.254")
    exact = egress(Network("proxy", allowed=("127.0.0.1",)))
    assert await exact.addresses("127.0.0.1", 80) == ("127.0.0.1",)
    assert "not an allowed domain" in await refusal(exact, "127.0.0.2")


async def test_a_rule_with_a_port_is_about_that_port() -> None:
    gate = egress(Network("proxy", allowed=("localhost:8080", "[::1]:80")), localhost="127.0.0.1")
    assert await gate.addresses("localhost", 8080) == ("127.0.0.1",)
    assert await gate.addresses("[::1]", 80) == ("::1",)
    assert "not an allowed domain" in await refusal(gate, "localhost", 22)


def test_what_rules_name_of_this_machine_is_not_reached_directly() -> None:
    assert proxy_env(Network("proxy"))["NO_PROXY"] == "localhost,127.0.0.1,::1"
    assert proxy_env(Network("proxy", allowed=("localhost:80",)))["no_proxy"] == "127.0.0.1,::1"


async def test_a_yes_is_for_the_port_that_was_named() -> None:
    asked: list[str] = []

    async def ask(host: str, port: int) -> bool:
        asked.append(f"{host}:{port}")
        return port == 443

    gate = egress(Network("proxy", allowed=("a.org",)))
    gate.ask = ask
    assert await gate.addresses("yes.example", 443) == ("93.184.216.34",)
    assert "not an allowed domain" in await refusal(gate, "yes.example", 22)
    assert asked == ["yes.example:443", "yes.example:22"]


async def test_an_unknown_host_is_asked_about_once() -> None:
    asked: list[str] = []

    async def ask(host: str, port: int) -> bool:
        asked.append(f"{host}:{port}")
        return host == "yes.example"

    gate = egress(Network("proxy", allowed=("a.org",)))
    gate.ask = ask
    await asyncio.gather(*(gate.addresses("yes.example", 443) for _ in range(3)))
    assert "not an allowed domain" in await refusal(gate, "no.example")
    assert "not an allowed domain" in await refusal(gate, "no.example")
    assert asked == ["yes.example:443", "no.example:443"]


# --- on the wire ----------------------------------------------------------------------------------


class Wire:
    """A proxy on loopback, and a server behind it that repeats what it is sent."""

    def __init__(self, http: int, socks: int, server: int, refused: list[str]) -> None:
        self.http, self.socks, self.server, self.refused = http, socks, server, refused

    async def say(self, data: bytes, *more: bytes, port: int = 0) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", port or self.http)
        got = b""
        try:
            async with asyncio.timeout(PATIENCE):
                writer.write(data)
                for each in more:
                    got += await reader.read(4096)
                    writer.write(each)
                writer.write_eof()
                return got + await reader.read()
        except ConnectionError:
            return got
        finally:
            writer.close()


@pytest.fixture
async def wire() -> AsyncIterator[Wire]:
    async def repeat(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(4096):
            writer.write(b"<" + data + b">")
            if data.startswith(b"GET"):
                break
        writer.close()

    behind = await asyncio.start_server(repeat, "127.0.0.1", 0)
    refused: list[str] = []

    async def resolve(host: str, port: int) -> tuple[str, ...]:
        return ("127.0.0.1",)

    network = Network("proxy", allowed=("good.test",), private=True)
    proxy = Proxy(Egress(network, resolve=resolve, refused=lambda _, why: refused.append(why)))
    listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
    servers = await proxy.serve(*listeners)
    ports = [listener.getsockname()[1] for listener in listeners]
    yield Wire(ports[0], ports[1], behind.sockets[0].getsockname()[1], refused)
    for server in (*servers, behind):
        server.close()
    proxy.close()
    await asyncio.sleep(0)


def hello(name: str) -> bytes:
    """The first bytes a TLS client sends."""
    sent = ssl.MemoryBIO()
    context = ssl.create_default_context()
    connection = context.wrap_bio(ssl.MemoryBIO(), sent, server_hostname=name)
    with pytest.raises(ssl.SSLWantReadError):
        connection.do_handshake()
    return sent.read()


async def test_plain_requests_pass_with_our_host_header(wire: Wire) -> None:
    request = f"GET http://good.test:{wire.server}/a?b HTTP/1.1\r\nHost: good.test\r\nX: 1\r\n\r\n"
    answer = await wire.say(request.encode())
    assert answer.startswith(b"<GET /a?b HTTP/1.1\r\nHost: good.test:")
    assert b"Connection: close\r\nX: 1\r\n\r\n>" in answer


@pytest.mark.parametrize(
    "request_",
    [
        "GET http://evil.test/ HTTP/1.1\r\nHost: good.test\r\n\r\n",
        "GET http://good.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n",
        "GET http://good.test@evil.test/ HTTP/1.1\r\n\r\n",
        "GET http://evil.test\\@good.test/ HTTP/1.1\r\n\r\n",
        "GET https://good.test/ HTTP/1.1\r\n\r\n",
        "CONNECT evil.test:443 HTTP/1.1\r\nHost: good.test\r\n\r\n",
        "CONNECT good.test.evil.test:443 HTTP/1.1\r\n\r\n",
        "CONNECT 2130706433:80 HTTP/1.1\r\n\r\n",
        "CONNECT good.test@evil.test:443 HTTP/1.1\r\n\r\n",
        "POST http://good.test/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "GET http://good.test/ HTTP/1.1\r\nX: a\nHost: evil.test\r\n\r\n",
        "GET http://good.test/ HTTP/1.1\r\nX: a\rHost: evil.test\r\n\r\n",
        "GET http://good.test/ HTTP/1.1\r\nX: a\n\nGET /b HTTP/1.1\nHost: evil.test\r\n\r\n",
        "GET http://good.test/ HTTP/1.1\r\nHost : evil.test\r\n\r\n",
        "GET http://good.test/ HTTP/1.1\r\nX\r\n\r\n",
        "GET http://good.test/ HTTP/1.1\r\nX: 1\r\n Host: evil.test\r\n\r\n",
        "POST http://good.test/ HTTP/1.1\r\nContent-Length: 0\r\nContent-Length: 9\r\n\r\n",
        "POST http://good.test/ HTTP/1.1\r\nContent-Length: +9\r\n\r\n",
        "POST http://good.test/ HTTP/1.1\r\nContent-Length: 1_0\r\n\r\n",
    ],
)
async def test_what_is_refused(wire: Wire, request_: str) -> None:
    answer = await wire.say(request_.encode())
    assert answer.startswith(b"HTTP/1.1 403 Blocked by the sandbox"), answer


async def test_a_second_request_does_not_ride_along(wire: Wire) -> None:
    first = f"GET http://good.test:{wire.server}/a HTTP/1.1\r\nHost: good.test\r\n\r\n"
    second = "GET http://evil.test/secret HTTP/1.1\r\nHost: evil.test\r\n\r\n"
    answer = await wire.say((first + second).encode())
    assert b"secret" not in answer


async def test_a_tunnel_carries_what_names_its_host(wire: Wire) -> None:
    connect = f"CONNECT good.test:{wire.server} HTTP/1.1\r\n\r\n".encode()
    greeting = hello("good.test")
    answer = await wire.say(connect, greeting)
    assert answer == b"HTTP/1.1 200 Connection established\r\n\r\n<" + greeting + b">"


REQUEST = b"GET / HTTP/1.1\r\nHost: evil.test\r\n\r\n"


@pytest.mark.parametrize(
    "disguise",
    [
        hello("evil.test"),
        REQUEST,
        b"\r\n" + REQUEST,
        b" " + REQUEST,
        REQUEST.replace(b"GET", b"TRACE"),
        REQUEST.replace(b"GET", b"get"),
        REQUEST.replace(b" ", b"\t"),
        REQUEST.replace(b"/ ", b"http://evil.test/ "),
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET http://evil.test/\r\n",
    ],
)
async def test_a_tunnel_for_another_host_ends(wire: Wire, disguise: bytes) -> None:
    connect = f"CONNECT good.test:{wire.server} HTTP/1.1\r\n\r\n".encode()
    answer = await wire.say(connect, disguise)
    assert b"<" not in answer
    assert "was ended" in wire.refused[0]


@pytest.mark.parametrize("pieces", [(b"G", REQUEST[1:]), (b"\r", b"\n" + REQUEST)])
async def test_a_request_in_pieces_is_put_together(wire: Wire, pieces: tuple[bytes, bytes]) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", wire.http)
    writer.write(f"CONNECT good.test:{wire.server} HTTP/1.1\r\n\r\n".encode())
    await reader.readuntil(b"\r\n\r\n")
    rest = b""
    async with asyncio.timeout(PATIENCE):
        for each in pieces:
            writer.write(each)
            await writer.drain()
            for _ in range(50):
                await asyncio.sleep(0)
        with contextlib.suppress(ConnectionError):
            rest = await reader.read()
    writer.close()
    assert rest == b""
    assert "was ended" in wire.refused[0]


@pytest.mark.parametrize(
    ("first", "expected"),
    [
        (b"SSH-2.0-OpenSSH_9.6\r\n", False),
        (b"003agit-upload-pack /project\0host=good.test\0", False),
        (b"EHLO me\r\n", False),
        (b"*1\r\n$4\r\nPING\r\n", False),
        (b"\0\0\0\x08\x04\xd2", False),
        (b"@RSYNCD: 31.0\n", False),
        (b"", None),
        (b"\r\n", None),
        (b"GET", None),
        (b"GET ", None),
        (b"PURGE /", True),
    ],
)
def test_what_a_server_could_take_for_http(first: bytes, expected: bool | None) -> None:
    assert could_be_request(first) is expected


async def test_a_greeting_in_pieces_is_put_together(wire: Wire) -> None:
    greeting = hello("evil.test")
    reader, writer = await asyncio.open_connection("127.0.0.1", wire.http)
    writer.write(f"CONNECT good.test:{wire.server} HTTP/1.1\r\n\r\n".encode())
    await reader.readuntil(b"\r\n\r\n")
    async with asyncio.timeout(PATIENCE):
        for at in range(0, len(greeting), 100):
            writer.write(greeting[at : at + 100])
            await writer.drain()
            await asyncio.sleep(0)
        try:
            rest = await reader.read()
        except ConnectionError:
            rest = b""
    writer.close()
    assert rest == b""
    assert "evil.test" in wire.refused[0]


def socks(host: bytes, port: int, command: int = 1) -> tuple[bytes, bytes]:
    request = bytes([5, command, 0, 3, len(host)]) + host + port.to_bytes(2, "big")
    return b"\x05\x01\x00", request


async def test_socks(wire: Wire) -> None:
    first, request = socks(b"good.test", wire.server)
    answer = await wire.say(first, request, b"ping\n", port=wire.socks)
    assert answer.endswith(b"<ping\n>")
    first, request = socks(b"evil.test", wire.server)
    assert (await wire.say(first, request, port=wire.socks))[2:4] == b"\x05\x02"
    first, request = socks(b"good.test", wire.server, command=3)
    assert (await wire.say(first, request, port=wire.socks))[2:4] == b"\x05\x07"
    address = b"\x05\x01\x00\x01" + socket.inet_aton("127.0.0.1") + wire.server.to_bytes(2, "big")
    assert (await wire.say(b"\x05\x01\x00", address, port=wire.socks))[2:4] == b"\x05\x02"


def test_a_client_hello_is_read_or_refused() -> None:
    greeting = hello("example.com")
    assert read_hello(greeting).name == "example.com"
    assert not read_hello(greeting[:40]).whole
    assert not read_hello(b"SSH-2.0-x\r\n").tls
    for end in range(5, len(greeting)):
        assert not read_hello(greeting[:end]).whole
    with pytest.raises(ValueError):
        read_hello(b"\x16\x03\x01\x00\x05\x01\x00\x10\x00\x00")
