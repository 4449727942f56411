"""Connections to the address that was judged: a second answer of a name server never counts."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import ssl
from collections.abc import Sequence
from urllib.request import getproxies

import httpx2

from gatewright.mcp.network.addresses import Depth, Judged, within

SOON = 5.0  # seconds for an address to answer where there is another


def pinned(
    deepest: Depth, trust: ssl.SSLContext | None = None, judged: Judged | None = None
) -> Pinned | None:
    """None where a proxy stands between, which looks names up itself."""
    return Pinned(deepest, trust, judged) if set(getproxies()) <= {"no"} else None


class Pinned(httpx2.AsyncBaseTransport):
    """Looks a name up once, judges what it stands for, and connects to that.

    What was `judged` before is not looked up again: it stays what it was.
    """

    def __init__(
        self, deepest: Depth, trust: ssl.SSLContext | None = None, judged: Judged | None = None
    ) -> None:
        """Whom to `trust` where a certificate is to be checked; None: whom the machine trusts."""
        self._known = judged
        self._deepest: Depth = deepest
        self._trust = trust
        self._ways: dict[str, httpx2.AsyncHTTPTransport] = {}

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        url = request.url
        way = self._way(url.scheme)
        addresses = await self._judged(url)
        wrong: httpx2.TransportError = httpx2.ConnectError("it has no address")
        for number, text in enumerate(addresses, 1):
            there = httpx2.Request(
                request.method,
                url.copy_with(host=f"[{text}]" if ":" in text else text),
                headers=request.headers,
                stream=request.stream,
                extensions=_extensions(request, last=number == len(addresses)),
            )
            try:
                return await way.handle_async_request(there)
            except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
                wrong = error
        raise wrong

    async def _judged(self, url: httpx2.URL) -> Sequence[str]:
        port = url.port or (443 if url.scheme == "https" else 80)
        known = self._known
        if known is not None and (url.host.rstrip(".").lower(), port) == (known.host, known.port):
            return known.addresses
        loop = asyncio.get_running_loop()
        try:
            found = await loop.getaddrinfo(url.host, port, type=socket.SOCK_STREAM)
        except OSError as error:
            raise httpx2.ConnectError(
                f"{url.host} is not found: {error.strerror or error}"
            ) from error
        addresses = tuple(dict.fromkeys(str(each[4][0]).partition("%")[0] for each in found))
        for text in addresses:
            if not within(ipaddress.ip_address(text), self._deepest, url.scheme):
                raise httpx2.ConnectError("its address is not one to be followed")
        return addresses

    def _way(self, scheme: str) -> httpx2.AsyncHTTPTransport:
        """Certificates are read only where one is to be checked: that takes 0.2 s."""
        if scheme not in self._ways:
            checked: ssl.SSLContext | bool = scheme == "https" and (self._trust or True)
            self._ways[scheme] = httpx2.AsyncHTTPTransport(verify=checked)
        return self._ways[scheme]

    async def aclose(self) -> None:
        for way in self._ways.values():
            await way.aclose()


def _extensions(request: httpx2.Request, *, last: bool) -> dict[str, object]:
    given: dict[str, object] = {**request.extensions, "sni_hostname": request.url.host}
    limits = request.extensions.get("timeout", {})
    if not last:
        given["timeout"] = {**limits, "connect": min(limits.get("connect") or SOON, SOON)}
    return given
