"""Where a browser comes back to after a login: one address of this machine, for one answer.

What a person pastes instead is read the same way. An answer with another state than the one that
was sent out is nobody's, and is not waited for any less.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import socket
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from urllib.parse import parse_qsl, urlsplit

import msgspec

from gatewright.mcp.described import printable
from gatewright.mcp.oauth.errors import LoginFailed

PATH = "/callback"
MOST = 16 * 1024  # of what a browser asks
QUICK = 10.0  # seconds for a browser to say what it wants
HOSTS = ("127.0.0.1", "::1")  # what localhost is called to a browser
DONE = "You are logged in. This page can be closed."
_PAGE = (
    "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nConnection: close\r\n"
    "Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\n"
    "Content-Security-Policy: default-src 'none'\r\nContent-Length: {size}\r\n\r\n"
)


class Answer(msgspec.Struct, frozen=True):
    """What came back: a code, or the words of whoever refused."""

    code: str = ""
    state: str = ""
    issuer: str | None = None
    error: str = ""


class Callback:
    def __init__(self, port: int) -> None:
        self.address = f"http://localhost:{port}{PATH}"
        self._state = ""
        self._answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()

    def expect(self, state: str) -> None:
        self._state = state

    async def answer(self) -> Answer:
        return await asyncio.shield(self._answer)

    def pasted(self, text: str) -> None:
        """The whole address, as the browser shows it. Raises LoginFailed."""
        found = _read(urlsplit(text.strip()).query)
        if found is None or not self._take(found):
            raise LoginFailed("that is not the address this login ends at")

    def _take(self, found: Answer) -> bool:
        """Whether it is what was waited for; the first one counts."""
        ours = bool(self._state) and secrets.compare_digest(
            found.state.encode("utf-8", "replace"), self._state.encode()
        )
        if ours and not self._answer.done():
            self._answer.set_result(found)
        return ours

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, TimeoutError, asyncio.IncompleteReadError, ValueError):
            async with asyncio.timeout(QUICK):
                head = await reader.readuntil(b"\r\n\r\n")
                from html import escape  # noqa: PLC0415  lazy: 2 ms, when a browser comes

                status, words = self._answered(head.decode("latin-1"))
                body = f"<!doctype html><title>Gatewright</title><p>{escape(words)}</p>"
                data = body.encode()
                writer.write(_PAGE.format(status=status, size=len(data)).encode() + data)
                await writer.drain()
        with contextlib.suppress(OSError):
            writer.close()
            await writer.wait_closed()

    def _answered(self, head: str) -> tuple[str, str]:
        lines = head.split("\r\n")
        method, _, rest = lines[0].partition(" ")
        hosts = [line[5:].strip() for line in lines[1:] if line.lower().startswith("host:")]
        where = urlsplit(self.address)
        local = {f"{name}:{where.port}" for name in ("localhost", "127.0.0.1", "[::1]")}
        target = urlsplit(rest.partition(" ")[0])
        if method != "GET" or target.path != PATH or len(hosts) != 1 or hosts[0] not in local:
            return "404 Not Found", "There is nothing here."
        found = _read(target.query)
        if found is None or not self._take(found):
            return "400 Bad Request", "This is not the login that is waited for."
        if found.error:
            return "200 OK", f"The login was refused: {found.error}"
        return "200 OK", DONE


@asynccontextmanager
async def listening(port: int = 0) -> AsyncGenerator[Callback]:
    """At this port of this machine, or a free one. Raises LoginFailed."""
    sockets = _sockets(port)
    callback = Callback(sockets[0].getsockname()[1])
    async with contextlib.AsyncExitStack() as stack:
        for each in sockets:
            server = await asyncio.start_server(callback.serve, sock=each, limit=MOST)
            await stack.enter_async_context(server)
        yield callback


def _sockets(port: int) -> list[socket.socket]:
    first = socket.socket()
    try:
        first.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        first.bind((HOSTS[0], port))
    except OSError as error:
        first.close()
        raise LoginFailed(f"port {port} of this machine is taken: {error.strerror}") from None
    found = [first]
    with contextlib.suppress(OSError):  # a machine without the newer protocol, or a port in use
        second = socket.socket(socket.AF_INET6)
        try:
            second.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            second.bind((HOSTS[1], first.getsockname()[1]))
        except OSError:
            second.close()
            raise
        found.append(second)
    return found


def _read(query: str) -> Answer | None:
    try:
        pairs = parse_qsl(query, max_num_fields=32)
    except ValueError:
        return None
    said: Mapping[str, str] = dict(pairs)
    if len(said) != len(pairs):
        return None  # what is said twice is read in different ways
    error = ": ".join(filter(None, (said.get("error", ""), said.get("error_description", ""))))
    if not said.get("code") and not error:
        return None
    return Answer(
        code=said.get("code", ""),
        state=said.get("state", ""),
        issuer=said.get("iss"),
        error=printable(error, 300),
    )
