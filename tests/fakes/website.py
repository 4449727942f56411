"""A loopback web server whose pages may redirect, trickle, lie about themselves or never end."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from typing import TypeAlias

Route: TypeAlias = Callable[["Visit"], Awaitable[None]]


class Visit:
    """One request: what was asked, and how to answer."""

    def __init__(self, path: str, headers: Mapping[str, str], writer: asyncio.StreamWriter) -> None:
        self.path = path
        self.headers = headers
        self.writer = writer

    async def answer(
        self, body: bytes, kind: str = "text/html", status: int = 200, **headers: str
    ) -> None:
        lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}", "Connection: close"]
        lines += [f"Content-Type: {kind}"] if kind else []
        lines += [f"{name}: {value}" for name, value in headers.items()]
        self.writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
        await self.writer.drain()


class Website:
    def __init__(self, routes: Mapping[str, Route]) -> None:
        self.routes = dict(routes)
        self.visits: list[Visit] = []
        self.port = 0
        self._open: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(reader, writer))
        self._open[task] = writer
        task.add_done_callback(self._open.pop)

    async def close(self) -> None:
        """Drop what is still being served: a client may have given up on an endless page."""
        for task, writer in list(self._open.items()):
            writer.transport.abort()
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)
        await asyncio.sleep(0)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            first, *rest = head.splitlines()
            headers = {
                name.lower(): value.strip()
                for name, _, value in (line.partition(":") for line in rest if line)
            }
            visit = Visit(first.split(" ")[1], headers, writer)
            self.visits.append(visit)
            route = self.routes.get(visit.path.partition("?")[0])
            if route is None:
                await visit.answer(b"nothing here", status=404)
            else:
                await route(visit)
        with contextlib.suppress(ConnectionError):
            writer.close()
            await writer.wait_closed()


@contextlib.asynccontextmanager
async def website(routes: Mapping[str, Route]) -> AsyncGenerator[Website, None]:
    site = Website(routes)
    server = await asyncio.start_server(site.accept, "127.0.0.1", 0)
    site.port = server.sockets[0].getsockname()[1]
    async with server:
        try:
            yield site
        finally:
            await site.close()


def page(body: str | bytes, kind: str = "text/html; charset=utf-8", status: int = 200) -> Route:
    data = body.encode() if isinstance(body, str) else body

    async def route(visit: Visit) -> None:
        await visit.answer(data, kind, status)

    return route


def moved(location: str, status: int = 302) -> Route:
    async def route(visit: Visit) -> None:
        await visit.answer(b"", status=status, Location=location)

    return route
