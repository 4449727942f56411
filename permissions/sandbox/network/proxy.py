"""The way out of the sandbox: an HTTP proxy and a SOCKS5 server on sockets that listen inside.

Nothing leaves but to a host that was judged, at an address that was checked; what a connection
says about its host afterwards must agree.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

import msgspec

from gatewright.permissions.sandbox.network.clienthello import RECORD_LIMIT, read_hello
from gatewright.permissions.sandbox.network.domains import host_of, split_port
from gatewright.permissions.sandbox.network.egress import Egress, Refused
from gatewright.permissions.sandbox.network.plain_http import (
    Head,
    could_be_request,
    read_fields,
    words_of,
)

HEAD_LIMIT = 64 * 1024
HEAD_SECONDS = 30.0
CONNECT_SECONDS = 20.0
IDLE_SECONDS = 900.0
CHUNK = 64 * 1024

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Proxy(msgspec.Struct):
    """Serves the sandboxes of one session on its event loop."""

    egress: Egress
    _tasks: set[asyncio.Task[None]] = msgspec.field(default_factory=set[asyncio.Task[None]])

    async def serve(self, http: socket.socket, socks: socket.socket) -> list[asyncio.Server]:
        """Accept on sockets that a sandbox made; closing the servers ends that."""
        return [
            await asyncio.start_server(self._guarded(self._http), sock=http, limit=HEAD_LIMIT),
            await asyncio.start_server(self._guarded(self._socks), sock=socks, limit=HEAD_LIMIT),
        ]

    def close(self) -> None:
        for task in tuple(self._tasks):
            task.cancel()

    def _guarded(self, handler: Handler) -> Handler:
        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            self._tasks.add(task)
            try:
                await handler(reader, writer)
            except (OSError, TimeoutError, ValueError, asyncio.IncompleteReadError) as error:
                del error  # a connection that broke off has nobody to be told
            finally:
                self._tasks.discard(task)
                writer.close()

        return handle

    # --- HTTP ---

    async def _http(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(HEAD_SECONDS):
                head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.LimitOverrunError:
            return await _answer(writer, 431, "The request is too long.")
        first, *lines = head[:-4].split(b"\r\n")
        if (words := words_of(first)) is None:
            return await _answer(writer, 400, "This is no HTTP request.")
        try:
            if words[0] == "CONNECT":
                return await self._connect(words[1], (reader, writer))
            return await self._forward(words, read_fields(lines), (reader, writer))
        except Refused as refusal:
            return await _answer(writer, 403, str(refusal))

    async def _connect(self, target: str, client: Streams) -> None:
        host, port = _authority(target, 443)
        server = await self._open(host, port)
        client[1].write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await self._tunnel(host, client, server)

    async def _forward(self, words: tuple[str, str], sent: Head, client: Streams) -> None:
        """One plain request and its answer; the Host header is ours, and nothing may follow."""
        url = urlsplit(words[1])
        if url.scheme != "http" or "@" in url.netloc:
            raise Refused("Only http:// addresses without a user pass; use CONNECT for others.")
        host, port = _authority(url.netloc, 80)
        if any(host_of(split_port(named)[0]) != host_of(host) for named in sent.hosts):
            raise Refused("The Host header names another host than the address.")
        server_reader, server_writer = await self._open(host, port)
        path = words[1].split("/", 3)
        target = "/" + path[3] if len(path) > 3 else "/"
        start = f"{words[0]} {target} HTTP/1.1\r\nHost: {url.netloc}\r\nConnection: close\r\n"
        server_writer.write(
            start.encode("latin-1") + b"".join(k + b"\r\n" for k in sent.kept) + b"\r\n"
        )
        try:
            await asyncio.gather(
                _copy(client[0], server_writer, limit=sent.length, end=False),
                _copy(server_reader, client[1]),
            )
        finally:
            server_writer.close()

    # --- SOCKS5 ---

    async def _socks(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with asyncio.timeout(HEAD_SECONDS):
            version, count = await reader.readexactly(2)
            if version != 5 or 0 not in await reader.readexactly(count):
                writer.write(b"\x05\xff")
                return
            writer.write(b"\x05\x00")
            _, command, _, kind = await reader.readexactly(4)
            host = await _socks_host(reader, kind)
            port = int.from_bytes(await reader.readexactly(2), "big")
        if command != 1 or not host:
            writer.write(b"\x05" + (b"\x07" if host else b"\x08") + b"\0\x01" + bytes(6))
            return
        try:
            server = await self._open(host, port)
        except Refused:
            writer.write(b"\x05\x02\0\x01" + bytes(6))
            return
        except OSError:
            writer.write(b"\x05\x05\0\x01" + bytes(6))
            return
        writer.write(b"\x05\x00\0\x01" + bytes(6))
        await self._tunnel(host, (reader, writer), server)

    # --- both ---

    async def _open(self, host: str, port: int) -> Streams:
        error: OSError = OSError("no address")
        for address in await self.egress.addresses(host, port):
            try:
                async with asyncio.timeout(CONNECT_SECONDS):
                    return await asyncio.open_connection(address, port)
            except OSError as failed:
                error = failed
        raise Refused(f"{host}:{port} does not answer: {error}.")

    async def _tunnel(self, host: str, client: Streams, server: Streams) -> None:
        """Both directions, once the client's first bytes agree with the host."""
        try:
            back = asyncio.ensure_future(_copy(server[0], client[1]))
            try:
                first = await self._agreed(host, client[0])
                server[1].write(first)
                await asyncio.gather(_copy(client[0], server[1]), back)
            finally:
                back.cancel()
        finally:
            server[1].close()

    async def _agreed(self, host: str, reader: asyncio.StreamReader) -> bytes:
        data = b""
        while len(data) <= RECORD_LIMIT:
            async with asyncio.timeout(IDLE_SECONDS):
                chunk = await reader.read(CHUNK)
            data += chunk
            if not chunk:
                return data
            hello = read_hello(data)
            if not hello.tls:
                request = could_be_request(data)
                if request:
                    self._disagree(host, "plain HTTP goes through the proxy, not through a tunnel")
                if request is None:
                    continue
            if not hello.whole:
                continue
            if hello.tls and hello.name and host_of(hello.name) != host_of(host):
                self._disagree(host, f"the connection asks for {hello.name[:80]}")
            return data
        raise ValueError("no greeting")

    def _disagree(self, host: str, why: str) -> None:
        self.egress.refused(host, f"A connection to {host} was ended: {why}.")
        raise ConnectionAbortedError(why)


async def _answer(writer: asyncio.StreamWriter, status: int, text: str) -> None:
    body = f"Blocked by the sandbox: {text}\n".encode()
    head = f"HTTP/1.1 {status} Blocked by the sandbox\r\nContent-Type: text/plain\r\n"
    writer.write(f"{head}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body)
    with contextlib.suppress(OSError):
        await writer.drain()


def _authority(text: str, default: int) -> tuple[str, int]:
    """Host and port as written. Raises Refused for what has a user or no sensible port."""
    if "@" in text or "/" in text or "\\" in text:
        raise Refused("The address is not one of a host and a port.")
    host, number = split_port(text)
    port = number or (default if host == text else 0)
    if not host or not 0 < port < 65536:
        raise Refused("The address has no host or no port.")
    return host, port


async def _socks_host(reader: asyncio.StreamReader, kind: int) -> str:
    if kind == 1:
        return socket.inet_ntop(socket.AF_INET, await reader.readexactly(4))
    if kind == 4:
        return socket.inet_ntop(socket.AF_INET6, await reader.readexactly(16))
    if kind == 3:
        size = (await reader.readexactly(1))[0]
        return (await reader.readexactly(size)).decode("ascii", "replace")
    return ""


async def _copy(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    *,
    limit: int | None = None,
    end: bool = True,
) -> None:
    """Copy until the end, or `limit` bytes; a connection where nothing moves is given up."""
    left = limit
    with contextlib.suppress(OSError, TimeoutError):
        while left is None or left > 0:
            async with asyncio.timeout(IDLE_SECONDS):
                data = await reader.read(CHUNK if left is None else min(CHUNK, left))
            if not data:
                break
            if left is not None:
                left -= len(data)
            writer.write(data)
            await writer.drain()
        if end and writer.can_write_eof():
            writer.write_eof()
