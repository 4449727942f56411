"""Requests to whoever hands out logins: bounded in time and size, and to judged addresses alone.

Nothing of a definition's own headers travels along.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import httpx2

from gatewright.mcp.network.addresses import Depth, wrong_lead
from gatewright.mcp.network.pinned import pinned
from gatewright.mcp.oauth.errors import LoginFailed

SECONDS = 30.0
MOST = 1024 * 1024  # of an answer
AGENT = "gatewright"


class Asking:
    """`deepest`: how far inside a network those may be that were named by others."""

    def __init__(self, deepest: Depth) -> None:
        self._deepest: Depth = deepest
        self._client = httpx2.AsyncClient(
            transport=pinned(deepest),
            headers={"User-Agent": AGENT},
            timeout=httpx2.Timeout(SECONDS),
            follow_redirects=False,
        )

    async def __aenter__(self) -> Asking:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.aclose()

    async def judge(self, url: str) -> None:
        """Raises LoginFailed for an address that must not be followed."""
        if why := await wrong_lead(url, self._deepest):
            raise LoginFailed(f"{shown(url)}: {why}")

    async def send(self, request: httpx2.Request) -> httpx2.Response:
        """The whole answer, whatever its status. Raises LoginFailed."""
        return await self._sent(request, most=MOST)

    async def begun(self, request: httpx2.Request) -> httpx2.Response:
        """How an answer begins, without its body. Raises LoginFailed."""
        return await self._sent(request, most=0)

    async def _sent(self, request: httpx2.Request, most: int) -> httpx2.Response:
        url = str(request.url)
        await self.judge(url)
        request.headers.setdefault("Accept", "application/json")
        request.headers["Accept-Encoding"] = "identity"  # nothing small that becomes large
        try:
            async with asyncio.timeout(SECONDS):
                return await self._read(request, most)
        except TimeoutError:
            raise LoginFailed(f"{shown(url)} did not answer in time", later=True) from None
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, OSError) as error:
            why = str(error) or type(error).__name__
            raise LoginFailed(f"{shown(url)} cannot be reached: {why}", later=True) from None

    async def _read(self, request: httpx2.Request, most: int) -> httpx2.Response:
        answer = await self._client.send(request, stream=True, follow_redirects=False)
        body = bytearray()
        try:
            if most and answer.headers.get("content-encoding", "identity") != "identity":
                raise LoginFailed(f"{shown(str(request.url))} answered in a packed form")
            async for chunk in answer.aiter_raw(64 * 1024) if most else _nothing():
                body += chunk
                if len(body) > most:
                    raise LoginFailed(f"{shown(str(request.url))} answered with more than 1 MiB")
        finally:
            await answer.aclose()
        headers = [
            (name, value)
            for name, value in answer.headers.multi_items()
            if name.lower() not in ("content-encoding", "content-length", "transfer-encoding")
        ]
        whole = httpx2.Response(
            answer.status_code, headers=headers, content=bytes(body), request=request
        )
        whole.next_request = answer.next_request
        return whole


async def _nothing() -> AsyncGenerator[bytes]:
    nothing: tuple[bytes, ...] = ()
    for each in nothing:
        yield each


def shown(url: str) -> str:
    """An address without what it may hide: who one is there, and its query."""
    try:
        found = httpx2.URL(url)
    except httpx2.InvalidURL:
        return "an address"
    return str(found.copy_with(userinfo=b"", query=None, fragment=None))[:300]
