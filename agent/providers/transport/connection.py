"""One connection to a model server: TCP, TLS, and the tunnel through a proxy."""

from __future__ import annotations

import asyncio
import base64
import ssl
from collections.abc import Callable
from contextlib import suppress
from typing import cast

from gatewright.agent.errors import FailureKind, ProviderError
from gatewright.agent.providers.transport.address import SOCKS, Address
from gatewright.agent.providers.transport.dial import anywhere, dial
from gatewright.agent.providers.transport.response import BadResponse, ResponseReader

_BLOCK = 256 * 1024
QUICK = 0.004  # seconds of a read in a stream that is fast
MANY = 32  # such reads in a row after which what comes is gathered
GATHER = 0.016  # seconds


class Connection:
    """Bytes in and out. `fresh` until the first answer: a reused one may turn out to be dead."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self.fresh = True
        self._quick = 0  # reads in a row that waited for hardly anything
        self._since = 0.0

    def rest(self) -> None:
        """It is kept for a later request."""
        self.fresh = False
        self._since = asyncio.get_running_loop().time()

    @property
    def idle_seconds(self) -> float:
        return asyncio.get_running_loop().time() - self._since

    @property
    def alive(self) -> bool:
        return not (self._writer.is_closing() or self._reader.at_eof())

    async def write(self, data: bytes, *, limit: float) -> None:
        """A server may answer and close before it has read everything: the answer tells."""
        self._writer.write(data)
        with suppress(ConnectionError):
            async with asyncio.timeout(limit):
                await self._writer.drain()

    async def read(self, *, limit: float) -> bytes:
        if self._reader.at_eof():
            return b""
        if self._quick >= MANY:
            await self._gather()
        clock = asyncio.get_running_loop().time
        began = clock()
        async with asyncio.timeout(limit):
            data = await self._reader.read(_BLOCK)
        self._quick = self._quick + 1 if clock() - began < QUICK else 0
        return data

    async def _gather(self) -> None:
        """Let the system hold what comes for a moment: to be woken for every word is dear."""
        transport = cast("asyncio.Transport", self._writer.transport)
        if not transport.is_reading():
            return  # there is too much already
        transport.pause_reading()
        try:
            await asyncio.sleep(GATHER)
        finally:
            transport.resume_reading()

    async def start_tls(self, context: ssl.SSLContext, host: str) -> None:
        await self._writer.start_tls(context, server_hostname=host)

    def close(self) -> None:
        self._writer.transport.abort()


async def connect(
    address: Address,
    proxy: Address | None,
    tls: Callable[[], ssl.SSLContext],
    admits: Callable[[str], bool] = anywhere,
) -> Connection:
    """Raises OSError, TimeoutError or `ProviderError`; the caller bounds the time."""
    first = proxy or address
    secure = tls() if first.scheme == "https" else None
    reader, writer = await asyncio.open_connection(
        sock=await dial(first.host, first.port, anywhere if proxy is not None else admits),
        ssl=secure,
        server_hostname=first.host if secure else None,
        limit=_BLOCK,
    )
    connection = Connection(reader, writer)
    through = proxy is not None and proxy.scheme in SOCKS
    if proxy is None or (address.scheme == "http" and not through):
        return connection
    try:
        if through:
            from gatewright.agent.providers.transport.socks import reach  # noqa: PLC0415  lazy: 1 ms, rarely wanted

            await reach(reader, writer, address, proxy)
        else:
            await _tunnel(connection, address, proxy)
        if address.scheme == "https":
            await connection.start_tls(tls(), address.host)
    except BaseException:
        connection.close()
        raise
    return connection


def proxy_headers(proxy: Address) -> dict[str, str]:
    if not proxy.login:
        return {}
    token = base64.b64encode(proxy.login.encode("utf-8")).decode("ascii")
    return {"proxy-authorization": f"Basic {token}"}


async def _tunnel(connection: Connection, address: Address, proxy: Address) -> None:
    place = address.host_and_port
    lines = [f"CONNECT {place} HTTP/1.1", f"host: {place}"]
    lines += [f"{name}: {value}" for name, value in proxy_headers(proxy).items()]
    await connection.write("\r\n".join([*lines, "", ""]).encode("latin-1"), limit=10)
    reader = ResponseReader()
    try:
        while not reader.started:
            reader.feed(await connection.read(limit=30))
    except BadResponse as error:
        raise ProviderError(
            FailureKind.TRANSPORT, f"The proxy {proxy.host_and_port} failed: {error}."
        ) from error
    if not 200 <= reader.status < 300:
        kind = FailureKind.REFUSED if reader.status in (403, 407) else FailureKind.TRANSPORT
        raise ProviderError(
            kind,
            f"The proxy {proxy.host_and_port} refused the way to {place} ({reader.status}).",
            status=reader.status,
        )
