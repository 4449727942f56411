"""A server behind an address: the SDK's transports, with limits and a record of refusals."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from typing import cast

import httpx2
import msgspec
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client

from gatewright.mcp.network.addresses import Depth, Judged
from gatewright.mcp.network.pinned import pinned
from gatewright.mcp.talk.lines import MOST
from gatewright.mcp.talk.stdio import Streams

CONNECT, SILENT = 15.0, 3600.0  # a call has a limit of its own
AT_ONCE, SHORT, PAUSE = 5, 10.0, 1.0  # streams within so many seconds; after them one waits
AGENT = "gatewright"
ANYWHERE: Depth = "loopback"  # but where credentials are handed out, and by http in public


class Answered(msgspec.Struct):
    """The last refusal of the server, for the sentence that says why; its login, whom to trust."""

    status: int = 0
    location: str = ""
    auth: httpx2.Auth | None = None
    trust: ssl.SSLContext | None = None
    where: Judged | None = None  # the server was found there

    @property
    def lost_session(self) -> bool:
        """Where there was one, this is how a server says that it forgot it."""
        return self.status == 404

    def closed(self) -> bool:
        return self.status in (401, 403)

    def forget(self) -> None:
        self.status = 0


class _Calm:
    """Streams are not opened in a loop, however soon the server ends them and says to come back."""

    def __init__(self) -> None:
        self._began: deque[float] = deque(maxlen=AT_ONCE)

    async def __call__(self, request: httpx2.Request) -> None:
        if request.method == "GET":
            if len(self._began) == AT_ONCE and time.monotonic() - self._began[0] < SHORT:
                await asyncio.sleep(PAUSE)
            self._began.append(time.monotonic())


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._inner:
            size += len(chunk)
            if size > MOST:
                raise httpx2.ReadError("the server sent a message of more than 32 MiB")
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()


async def trusted(url: str) -> ssl.SSLContext:
    """Whom to trust there: certificates take 0.1 s to be read, so in a thread, and where needed."""
    if not url.startswith("https:"):
        return nobody_trusted()
    return await asyncio.to_thread(httpx2.create_ssl_context)


def nobody_trusted() -> ssl.SSLContext:
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def client(
    headers: Mapping[str, str], answered: Answered, streams: Collection[str] = ("GET", "POST")
) -> httpx2.AsyncClient:
    """Follows nothing by itself; a body has a limit, but for `streams` of events, by method.

    Nothing comes packed: a little of that may become as much as the memory holds.
    """

    trust, where = answered.trust or nobody_trusted(), answered.where

    async def look(response: httpx2.Response) -> None:
        said = response.headers
        if response.status_code >= 400:
            answered.status = response.status_code
        if said.get("content-encoding", "identity").strip().lower() != "identity":
            raise httpx2.DecodingError(
                "the server sent something packed, which it was asked not to"
            )
        events = said.get("content-type", "").startswith("text/event-stream")
        if not events or response.is_error or response.request.method not in streams:
            response.stream = _Bounded(cast("httpx2.AsyncByteStream", response.stream))

    return httpx2.AsyncClient(
        headers={"User-Agent": AGENT, **headers, "Accept-Encoding": "identity"},
        timeout=httpx2.Timeout(CONNECT, read=SILENT),
        event_hooks={"request": [_Calm()], "response": [look]},
        auth=answered.auth,
        transport=pinned(where.deepest if where is not None else ANYWHERE, trust, where),
        verify=trust,
        follow_redirects=False,
    )


@asynccontextmanager
async def http_transport(
    url: str, headers: Mapping[str, str], answered: Answered
) -> AsyncGenerator[Streams]:
    async with (
        client(headers, answered) as made,
        streamable_http_client(url, http_client=made, max_sse_event_size=MOST) as streams,
    ):
        yield cast("Streams", streams)


@asynccontextmanager
async def sse_transport(
    url: str, headers: Mapping[str, str], answered: Answered
) -> AsyncGenerator[Streams]:
    """The older way, over two addresses."""

    def made(
        headers: dict[str, str] | None = None,
        timeout: httpx2.Timeout | None = None,
        auth: httpx2.Auth | None = None,
    ) -> httpx2.AsyncClient:
        del timeout, auth
        return client(headers or {}, answered, streams=("GET",))

    async with sse_client(url, headers=dict(headers), httpx_client_factory=made) as streams:
        yield cast("Streams", streams)
