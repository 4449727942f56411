"""A loopback HTTP server with one fixed answer, which keeps the bodies it was sent."""

from __future__ import annotations

import asyncio
from types import TracebackType


class RawServer:
    def __init__(self, status: int, body: bytes) -> None:
        self._status = status
        self._body = body
        self._server: asyncio.Server | None = None
        self.bodies: list[bytes] = []
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def __aenter__(self) -> RawServer:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._server is not None:
            self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        lengths = [line for line in head.split(b"\r\n") if line.startswith(b"content-length:")]
        size = int(lengths[0].partition(b":")[2]) if lengths else 0
        self.bodies.append(await reader.readexactly(size))
        writer.write(
            b"HTTP/1.1 %d Whatever\r\ncontent-type: application/json\r\nconnection: close\r\n"
            b"content-length: %d\r\n\r\n%s" % (self._status, len(self._body), self._body)
        )
        await writer.drain()
        writer.close()
