"""The direct transport: certificates, proxies, tunnels, and what it says when these fail."""

from __future__ import annotations

import asyncio
import base64
import datetime
import shutil
import ssl
import subprocess
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from gatewright.agent.errors import FailureKind, ProviderError
from gatewright.agent.providers.transport.address import Address, parse_url, proxy_for
from gatewright.agent.providers.transport.http import DirectTransport
from gatewright.agent.providers.transport.port import Timeouts
from gatewright.agent.providers.transport.tls import Trust
from tests.fakes.model_server import ModelServer
from tests.fakes.waiting import PATIENCE, eventually

ANSWER = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


@dataclass(frozen=True)
class Authority:
    """A certificate authority of our own, with one server certificate for localhost."""

    file: Path
    server: ssl.SSLContext


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Authority]:
    folder = tmp_path_factory.mktemp("certificates")
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Test authority")])
    now = datetime.datetime.now(datetime.UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=2))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(
            x509.SubjectAlternativeName([x509.DNSName("localhost"), x509.DNSName("model.test")]),
            critical=False,
        )
    )
    certificate = builder.sign(key, hashes.SHA256())
    public = folder / "ca.pem"
    public.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    private = folder / "key.pem"
    private.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(public, private)
    yield Authority(public, server)


@dataclass
class Peer:
    """A server that answers every request alike, or a proxy that passes bytes on."""

    tunnel_to: int = 0
    refuse: bytes = b""
    heads: list[str] = field(default_factory=list[str])
    port: int = 0
    server: asyncio.Server | None = None
    tasks: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])

    async def start(self, tls: ssl.SSLContext | None = None) -> Peer:
        self.server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=tls)
        self.port = self.server.sockets[0].getsockname()[1]
        return self

    async def stop(self) -> None:
        assert self.server is not None
        self.server.close()
        for task in list(self.tasks):
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.tasks.add(task)
        with suppress(asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                self.heads.append(head)
                if self.refuse:
                    writer.write(self.refuse)
                elif head.startswith("CONNECT"):
                    await self._tunnel(reader, writer)
                    break
                else:
                    writer.write(ANSWER)
                await writer.drain()
        writer.transport.abort()
        self.tasks.discard(task)

    async def _tunnel(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", self.tunnel_to)
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")

        async def pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
            with suppress(ConnectionError):
                while data := await source.read(65536):
                    sink.write(data)
                    await sink.drain()
            sink.close()

        try:
            await asyncio.gather(pump(reader, back), pump(there, writer))
        finally:
            back.transport.abort()


@asynccontextmanager
async def peer_at(
    tls: ssl.SSLContext | None = None, *, tunnel_to: int = 0, refuse: bytes = b""
) -> AsyncGenerator[Peer]:
    peer = await Peer(tunnel_to, refuse).start(tls)
    try:
        yield peer
    finally:
        await peer.stop()


async def get(url: str, env: dict[str, str], trust: Trust | None = None) -> bytes:
    transport = DirectTransport(env, Timeouts(connect=5, idle=5), trust=trust)
    try:
        async with transport.send(url, {"x": "y"}, None) as answer:
            return b"".join([chunk async for chunk in answer.chunks()])
    finally:
        await transport.close()


async def test_a_certificate_of_an_own_authority(authority: Authority) -> None:
    async with peer_at(authority.server) as peer:
        url = f"https://localhost:{peer.port}/"
        assert await get(url, {"SSL_CERT_FILE": str(authority.file)}) == b"ok"
        with pytest.raises(ProviderError, match="SSL_CERT_FILE") as caught:
            await get(url, {})
    assert caught.value.kind is FailureKind.REFUSED


async def test_a_certificate_for_another_name_is_refused(authority: Authority) -> None:
    async with peer_at(authority.server) as peer:
        with pytest.raises(ProviderError, match="not trusted"):
            await get(f"https://127.0.0.1:{peer.port}/", {"SSL_CERT_FILE": str(authority.file)})


def hash_of(certificate: Path) -> str:
    argv = ["openssl", "x509", "-hash", "-noout", "-in", str(certificate)]
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout.strip()


class TrustWithBundle(Trust):
    """The bundle of a system of our own."""

    def __init__(self, hashed: Path, bundle: Path) -> None:
        super().__init__({}, hashed=str(hashed))
        self._file = str(bundle)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="names the file by its hash")
async def test_certificates_by_hash_are_looked_up_and_the_bundle_read_only_if_need_be(
    authority: Authority, tmp_path: Path
) -> None:
    own, none = tmp_path / "own", tmp_path / "none"
    own.mkdir()
    none.mkdir()
    (own / f"{hash_of(authority.file)}.0").symlink_to(authority.file)
    async with peer_at(authority.server) as peer:
        url = f"https://localhost:{peer.port}/"
        by_hash = Trust({}, hashed=str(own))
        assert await get(url, {}, by_hash) == b"ok"
        assert by_hash.widen()  # nothing but the hashes was used so far
        bundled = TrustWithBundle(none, authority.file)
        assert await get(url, {}, bundled) == b"ok"
        assert not bundled.widen()
        with pytest.raises(ProviderError, match="not trusted"):
            await get(url, {}, Trust({}, hashed=str(none)))


async def test_unreadable_certificates_are_named(tmp_path: Path) -> None:
    with pytest.raises(ProviderError, match="SSL_CERT_FILE"):
        await get("https://localhost:1/", {"SSL_CERT_FILE": str(tmp_path / "none.pem")})


@pytest.mark.parametrize("proxy_tls", [False, True])
async def test_a_tunnel_through_a_proxy(authority: Authority, proxy_tls: bool) -> None:
    async with (
        peer_at(authority.server) as peer,
        peer_at(authority.server if proxy_tls else None, tunnel_to=peer.port) as proxy,
    ):
        scheme = "https" if proxy_tls else "http"
        env = {
            "SSL_CERT_FILE": str(authority.file),
            "HTTPS_PROXY": f"{scheme}://us%40er:p%3Aw@localhost:{proxy.port}",
        }
        assert await get("https://model.test:444/v1/x", env) == b"ok"
    assert proxy.heads[0].startswith("CONNECT model.test:444 HTTP/1.1\r\n")
    login = base64.b64encode(b"us@er:p:w").decode()
    assert f"proxy-authorization: Basic {login}" in proxy.heads[0]
    assert peer.heads[0].startswith("GET /v1/x HTTP/1.1\r\nhost: model.test:444\r\n")
    assert "proxy-authorization" not in peer.heads[0]


async def test_plain_http_through_a_proxy_names_the_whole_address() -> None:
    async with peer_at() as proxy:
        assert await get("http://model.test/v1", {"http_proxy": f"127.0.0.1:{proxy.port}"}) == b"ok"
    assert proxy.heads[0].startswith("GET http://model.test/v1 HTTP/1.1\r\nhost: model.test\r\n")


@pytest.mark.parametrize(
    ("status", "kind"), [(b"407", FailureKind.REFUSED), (b"502", FailureKind.TRANSPORT)]
)
async def test_a_proxy_that_refuses(status: bytes, kind: FailureKind) -> None:
    refusal = b"HTTP/1.1 %s No\r\ncontent-length: 0\r\n\r\n" % status
    async with peer_at(refuse=refusal) as proxy:
        with pytest.raises(ProviderError, match="refused the way to model") as caught:
            await get("https://model.test/", {"ALL_PROXY": f"http://127.0.0.1:{proxy.port}"})
    assert caught.value.kind is kind


@pytest.mark.parametrize(
    ("url", "env", "proxied"),
    [
        ("https://a.example/", {"HTTPS_PROXY": "http://p:1"}, True),
        ("http://a.example/", {"HTTPS_PROXY": "http://p:1"}, False),
        ("https://a.example/", {"ALL_PROXY": "http://p:1"}, True),
        ("https://a.example/", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "example"}, False),
        ("https://a.example/", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": ".example"}, False),
        ("https://a.example/", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "b, *.example"}, False),
        ("https://notexample/", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "example"}, True),
        ("https://a.example/", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "*"}, False),
        ("https://a.example/", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "a.example:444"}, True),
        (
            "https://a.example:444/",
            {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "a.example:444"},
            False,
        ),
        ("https://10.1.2.3/", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "10.0.0.0/8"}, False),
        ("https://11.1.2.3/", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "10.0.0.0/8"}, True),
        ("http://127.0.0.1:9/", {"ALL_PROXY": "http://p:1"}, False),
        ("http://localhost:9/", {"ALL_PROXY": "http://p:1"}, False),
        ("http://[::1]:9/", {"ALL_PROXY": "http://p:1"}, False),
        ("https://a.example/", {"https_proxy": "", "HTTPS_PROXY": "http://p:1"}, True),
    ],
)
def test_which_requests_take_the_proxy(url: str, env: dict[str, str], proxied: bool) -> None:
    assert (proxy_for(parse_url(url), env) is not None) == proxied


def test_a_proxy_of_another_kind_is_named() -> None:
    with pytest.raises(ProviderError, match="none of http://, https://, socks5://") as caught:
        proxy_for(parse_url("https://a/"), {"ALL_PROXY": "socks4://user:secret@p:1"})
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("https://h/v1?a=b", Address("https", "h", 443, "/v1?a=b")),
        ("http://h:81", Address("http", "h", 81, "/")),
        ("http://h./x", Address("http", "h.", 80, "/x")),
        ("http://[::1]:81/x", Address("http", "::1", 81, "/x")),
        ("https://bücher.example/", Address("https", "xn--bcher-kva.example", 443, "/")),
    ],
)
def test_addresses(url: str, address: Address) -> None:
    assert parse_url(url) == address


@pytest.mark.parametrize(
    "url",
    ["ftp://x", "localhost:80", "https://", "https://h:99999", "http://h/ x", "http://..../",
     f"http://{'a' * 64}.example/"],
)  # fmt: skip
def test_what_is_no_address(url: str) -> None:
    with pytest.raises(ProviderError, match="base URL"):
        parse_url(url)


async def test_headers_cannot_smuggle_lines() -> None:
    transport = DirectTransport({})
    with pytest.raises(ProviderError, match="line break"):
        async with transport.send("http://127.0.0.1:1/", {"x": "a\r\nb: c"}, b""):
            pass
    with pytest.raises(ProviderError, match="Latin-1"):
        async with transport.send("http://127.0.0.1:1/", {"x": "ключ"}, b""):
            pass


async def test_a_server_that_never_answers_is_given_up() -> None:
    gone = asyncio.Event()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            await reader.read()
        writer.transport.abort()
        gone.set()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    transport = DirectTransport({}, Timeouts(idle=0.1))
    with pytest.raises(ProviderError, match="did not answer in time"):
        async with transport.send(f"http://127.0.0.1:{port}/", {}, b"x"):
            pass
    await asyncio.wait_for(gone.wait(), PATIENCE)
    server.close()


async def test_a_connection_that_breaks_is_not_called_unreachable() -> None:
    async with ModelServer("say: Half of it.\ndrop:") as server:
        with pytest.raises(ProviderError, match=f"The connection to 127.0.0.1:{server.port} broke"):
            async with DirectTransport({}).send(f"{server.url}/v1/messages", {}, b"{}") as answer:
                async for _ in answer.chunks():
                    pass


@pytest.mark.parametrize("coding", ["gzip", "deflate"])
async def test_an_answer_compressed_unasked(coding: str) -> None:
    import gzip
    import zlib

    packed = gzip.compress(b"hello") if coding == "gzip" else zlib.compress(b"hello")
    head = b"HTTP/1.1 200 OK\r\ncontent-encoding: %s\r\ncontent-length: %d\r\n\r\n"
    async with peer_at(refuse=head % (coding.encode(), len(packed)) + packed) as peer:
        assert await get(f"http://127.0.0.1:{peer.port}/", {}) == b"hello"


@pytest.mark.parametrize("coding", [b"br", b"gzip"])
async def test_an_answer_that_cannot_be_unpacked_is_a_failure(coding: bytes) -> None:
    head = b"HTTP/1.1 200 OK\r\ncontent-encoding: %s\r\ncontent-length: 8\r\n\r\nxxxxxxxx"
    async with peer_at(refuse=head % coding) as peer:
        with pytest.raises(ProviderError, match=coding.decode()):
            await get(f"http://127.0.0.1:{peer.port}/", {})


async def test_an_answer_let_go_of_after_the_end_leaves_no_connection() -> None:
    async with peer_at() as peer:
        transport = DirectTransport({}, Timeouts(connect=5, idle=5))
        async with transport.send(f"http://127.0.0.1:{peer.port}/", {}, None) as answer:
            assert b"".join([chunk async for chunk in answer.chunks()]) == b"ok"
            await transport.close()
        await eventually(lambda: not peer.tasks, what="the end of the connection")
