"""The direct transport: HTTP/1.1 over asyncio streams, one idle connection kept per server.

Measured here, whole process: asyncio alone 37 ms, with h11 49, httpcore2 115, httpx2 109. A run
that asks one question pays that import before its first byte, so the few things a model client
needs (framing, TLS with custom CAs, proxies, keep-alive, cancellation) are written out, and the
framing is checked against h11 in the tests. Redirects, cookies and HTTP/2 are left out on purpose:
a model server that redirects is configured wrongly.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager

import msgspec

from gatewright.agent.errors import FailureKind, ProviderError
from gatewright.agent.providers.transport.address import SOCKS, Address, parse_url, proxy_for
from gatewright.agent.providers.transport.connection import Connection, connect, proxy_headers
from gatewright.agent.providers.transport.dial import anywhere
from gatewright.agent.providers.transport.port import Timeouts
from gatewright.agent.providers.transport.response import BadResponse, ResponseReader
from gatewright.agent.providers.transport.tls import Trust

_PIECE = 256 * 1024  # a kilobyte may stand for a megabyte: who counts must see it piece by piece

_IDLE_LIMIT = 4


class Exchange(msgspec.Struct, frozen=True):
    """Where one request goes and what is sent there."""

    address: Address
    proxy: Address | None
    wire: bytes

    @property
    def place(self) -> str:
        return self.address.host_and_port


class DirectAnswer:
    """The answer to one request, read from its connection as it is asked for."""

    def __init__(self, connection: Connection, reader: ResponseReader, idle: float) -> None:
        self._connection = connection
        self._reader = reader
        self._idle = idle

    @property
    def status(self) -> int:
        return self._reader.status

    @property
    def headers(self) -> Mapping[str, str]:
        return self._reader.headers

    async def chunks(self) -> AsyncIterator[bytes]:
        inflate = decoder(self.headers.get("content-encoding", ""))
        reader = self._reader
        while True:
            if data := reader.take():
                for piece in inflate(data):
                    await asyncio.sleep(0)  # a fast server, or a small answer that stands for much
                    yield piece
            elif reader.complete:
                return
            else:
                reader.feed(await self._connection.read(limit=self._idle))


class DirectTransport:
    def __init__(
        self,
        env: Mapping[str, str],
        timeouts: Timeouts | None = None,
        *,
        trust: Trust | None = None,
        admits: Callable[[str], bool] = anywhere,
    ) -> None:
        self._env = env
        self._admits = admits  # the addresses that a host may have, unless a proxy is asked
        self._timeouts = timeouts or Timeouts()
        self._idle: dict[tuple[Address | None, str], Connection] = {}
        self._warming: dict[tuple[Address | None, str], asyncio.Future[None]] = {}
        self._asked: list[tuple[Address | None, str]] = []  # once for each request under way
        self._trust = trust or Trust(env)
        self._closed = False

    @asynccontextmanager
    async def send(
        self, url: str, headers: Mapping[str, str], body: bytes | None
    ) -> AsyncGenerator[DirectAnswer]:
        exchange = _exchange(url, headers, body, self._env)
        connection: Connection | None = None
        reader = ResponseReader()
        self._asked.append(key := _key(exchange))
        try:
            connection, reader = await self._begin(exchange)
            yield DirectAnswer(connection, reader, self._timeouts.idle)
        except (OSError, BadResponse) as error:
            raise _failure(exchange, error) from error
        finally:
            self._asked.remove(key)
            if connection is not None:
                self._settle(exchange, connection, reader)

    async def warm(self, url: str) -> None:
        """Have a connection there for the next request; what fails is told by that request."""
        try:
            exchange = _exchange(url, {}, None, self._env)
        except ProviderError:
            return
        key = _key(exchange)
        kept = self._idle.get(key)
        there = key in self._warming or key in self._asked
        if self._closed or there or (kept is not None and self._usable(kept)):
            return
        loop = asyncio.get_running_loop()
        done = self._warming[key] = loop.create_future()
        try:
            if exchange.address.scheme == "https":
                await asyncio.to_thread(self._trust.context)  # up to 40 ms, and somebody types
            async with asyncio.timeout(self._timeouts.connect):
                connection = await self._connected(exchange)
            if self._keep(key, connection):
                loop.call_later(self._timeouts.kept, self._forget, key, connection)
        except (OSError, BadResponse, ProviderError):
            return
        finally:
            del self._warming[key]
            done.set_result(None)

    def _forget(self, key: tuple[Address | None, str], connection: Connection) -> None:
        """Nothing was sent after all; one that was used since stays as others do."""
        if self._idle.get(key) is connection and not self._usable(connection):
            self._idle.pop(key).close()

    async def close(self) -> None:
        self._closed = True  # an answer that is let go of later leaves no connection behind
        while self._idle:
            self._idle.popitem()[1].close()
        await asyncio.sleep(0)  # the sockets are let go in the loop's next round

    async def _begin(self, exchange: Exchange) -> tuple[Connection, ResponseReader]:
        """Send the request and read the answer's head; a dead idle connection gets one more try."""
        while True:
            connection = await self._take(exchange)
            reader = ResponseReader()
            began = False
            try:
                await connection.write(exchange.wire, limit=self._timeouts.write)
                while not reader.started:
                    data = await connection.read(limit=self._timeouts.idle)
                    began = began or bool(data)
                    reader.feed(data)
            except BaseException as error:
                connection.close()
                stale = not connection.fresh and not began
                if stale and isinstance(error, ConnectionError | BadResponse):
                    continue
                raise
            return connection, reader

    async def _take(self, exchange: Exchange) -> Connection:
        key = _key(exchange)
        async with asyncio.timeout(self._timeouts.connect):
            if (warming := self._warming.get(key)) is not None:
                await asyncio.shield(warming)
            kept = self._idle.pop(key, None)
            if kept is not None:
                if self._usable(kept):
                    return kept
                kept.close()
            return await self._connected(exchange)

    async def _connected(self, exchange: Exchange) -> Connection:
        way = (exchange.address, exchange.proxy, self._trust.context, self._admits)
        try:
            return await connect(*way)
        except ssl.SSLCertVerificationError:
            if not self._trust.widen():
                raise
            return await connect(*way)

    def _settle(self, exchange: Exchange, connection: Connection, reader: ResponseReader) -> None:
        if reader.complete and reader.reusable:
            self._keep(_key(exchange), connection)
        else:
            connection.close()

    def _usable(self, kept: Connection) -> bool:
        return kept.alive and kept.idle_seconds < self._timeouts.kept

    def _keep(self, key: tuple[Address | None, str], connection: Connection) -> bool:
        """For a later request, where there is room; else it is closed."""
        room = key not in self._idle and len(self._idle) < _IDLE_LIMIT
        if room and connection.alive and not self._closed:
            connection.rest()
            self._idle[key] = connection
            return True
        connection.close()
        return False


def _key(exchange: Exchange) -> tuple[Address | None, str]:
    address = exchange.address
    return exchange.proxy, f"{address.scheme}://{address.host_and_port}"


def _exchange(
    url: str, headers: Mapping[str, str], body: bytes | None, env: Mapping[str, str]
) -> Exchange:
    address = parse_url(url)
    proxy = proxy_for(address, env)
    target, all_headers = address.target, {"host": address.authority, **headers}
    if proxy is not None and address.scheme == "http" and proxy.scheme not in SOCKS:
        target = f"http://{address.authority}{address.target}"
        all_headers |= proxy_headers(proxy)
    if body is not None:
        all_headers["content-length"] = str(len(body))
    lines = [f"{'GET' if body is None else 'POST'} {target} HTTP/1.1"]
    for name, value in all_headers.items():
        if any(character in "\r\n\0" for character in name + value):
            raise ProviderError(FailureKind.REFUSED, f"The header {name!r} holds a line break.")
        lines.append(f"{name}: {value}")
    head = "\r\n".join([*lines, "", ""])
    try:
        wire = head.encode("latin-1") + (body or b"")
    except UnicodeEncodeError as error:
        raise ProviderError(
            FailureKind.REFUSED, "A header, perhaps the key, has characters beyond Latin-1."
        ) from error
    return Exchange(address, proxy, wire)


def _failure(exchange: Exchange, error: OSError | BadResponse) -> ProviderError:
    place, via = exchange.place, ""
    if exchange.proxy is not None:
        via = f" through the proxy {exchange.proxy.host_and_port}"
    match error:
        case ssl.SSLCertVerificationError():
            return ProviderError(
                FailureKind.REFUSED,
                f"The certificate of {place} is not trusted: {error.verify_message}. "
                "SSL_CERT_FILE can name your own authority.",
            )
        case TimeoutError():
            text = f"{place} did not answer in time{via}."
        case ConnectionRefusedError():
            text = f"Nothing answers at {place}{via}. Is the server running?"
        case ConnectionResetError() | BrokenPipeError():
            text = f"The connection to {place} broke{via}: {error.strerror or error}."
        case BadResponse():
            text = f"The connection to {place} broke{via}: {error}."
        case _:
            reason = error.strerror or str(error) or type(error).__name__
            text = f"{place} cannot be reached{via}: {reason}. Check the network and the base URL."
    return ProviderError(FailureKind.TRANSPORT, text)


# We ask for no compressed answers, but a gateway may compress all the same.
def decoder(coding: str) -> Callable[[bytes], Iterator[bytes]]:
    """What turns bytes as they come into pieces of bounded size.

    We ask for no compressed answers, but a gateway may compress all the same.
    """
    if coding in ("", "identity"):
        return lambda data: iter((data,))
    if coding not in ("gzip", "deflate"):
        raise ProviderError(FailureKind.TRANSPORT, f"The answer is compressed with {coding!r}.")
    import zlib  # noqa: PLC0415  lazy: nobody compresses a stream unasked

    inflate = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)

    def decode(data: bytes) -> Iterator[bytes]:
        piece = b""
        while data or len(piece) == _PIECE:
            if inflate.eof:
                raise BadResponse(f"it goes on behind the end of its {coding} data")
            try:
                piece = inflate.decompress(data, _PIECE)
            except zlib.error as error:
                raise BadResponse(f"it is not {coding}, as it says") from error
            data = inflate.unconsumed_tail
            if piece:
                yield piece

    return decode
