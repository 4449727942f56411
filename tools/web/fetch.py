"""One web page over HTTP: bounded in time, size and redirects, connected only to checked addresses.

The name is resolved here, every answer is judged, and the connection goes to the very address that
was judged; a second answer of the name server never counts.
"""

from __future__ import annotations

import asyncio
import ipaddress
import os
import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from gatewright.tools.protocol import ToolFailure
from gatewright.tools.system.addresses import IpAddress, kind_of
from gatewright.tools.web.address import Target, is_metadata, redirect
from gatewright.tools.web.redirect import MAX_HOPS

if TYPE_CHECKING:
    import httpx2

SIZE = 10 * 1024 * 1024
SECONDS = 60.0
_AGENT = "Gatewright/0.1 (+https://github.com/gatewright; a person's agent)"

Resolve: TypeAlias = Callable[[str, int], Awaitable[Sequence[IpAddress]]]
Confirm: TypeAlias = Callable[[str, IpAddress], Awaitable[bool]]


async def nobody(host: str, address: IpAddress) -> bool:
    """Confirms nothing: for calls without a person."""
    del host, address
    return False


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """What came back; `elsewhere` is set instead of a body when another host was named."""

    url: str
    status: int
    media_type: str = ""
    charset: str = ""
    body: bytes = b""
    cut: bool = False
    elsewhere: str = ""


async def resolve(host: str, port: int) -> Sequence[IpAddress]:
    """All addresses of a name, in the system's order."""
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise ToolFailure(f"{host} cannot be resolved: {error.strerror}.") from None
    return [ipaddress.ip_address(str(entry[4][0]).partition("%")[0]) for entry in found]


class Fetcher:
    """Fetches pages; `private_hosts` are names that may answer with a private address.

    For another public name that does, `confirm` asks the person.
    """

    def __init__(
        self,
        *,
        resolver: Resolve = resolve,
        private_hosts: Sequence[str] = (),
        confirm: Confirm = nobody,
        env: Mapping[str, str] | None = None,
        seconds: float = SECONDS,
        size: int = SIZE,
    ) -> None:
        self._resolve = resolver
        self._private = set(private_hosts)
        self._confirm = confirm
        self._env = os.environ if env is None else env
        self._seconds = seconds
        self._size = size

    async def get(self, target: Target) -> Page:
        import httpx2  # noqa: PLC0415  lazy: 54 ms

        try:
            # A transport of our own ignores proxies but keeps the person's certificates.
            own = None if self._proxied(target) else httpx2.AsyncHTTPTransport()
            client = httpx2.AsyncClient(timeout=30, transport=own)
            async with asyncio.timeout(self._seconds), client:
                for _ in range(MAX_HOPS + 1):
                    page = await self._once(client, target)
                    if not isinstance(page, str):
                        return page
                    there = redirect(target, page)
                    if there is None:
                        return Page(url=target.url, status=302, elsewhere=page)
                    target = there
        except TimeoutError:
            raise ToolFailure(f"{target.host} took more than {self._seconds:g} s.") from None
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            said = str(error) or type(error).__name__
            raise ToolFailure(f"{target.url} cannot be fetched: {said}.") from None
        raise ToolFailure(f"More than {MAX_HOPS} redirects, the last to {target.url}.")

    async def _once(self, client: httpx2.AsyncClient, target: Target) -> Page | str:
        """The page, or the location a redirect names."""
        headers = {
            "User-Agent": _AGENT,
            "Accept": "text/markdown, text/html;q=0.9, */*;q=0.5",
            "Accept-Encoding": "gzip, identity",
        }
        url, extensions = target.url, {}
        if not self._proxied(target):
            address = await self._checked(target)
            name = f"[{address}]" if address.version == 6 else str(address)
            headers["Host"] = target.url.split("/")[2]
            url = f"{target.scheme}://{name}:{target.port}{target.rest}"
            extensions = {"sni_hostname": target.host}
        async with client.stream("GET", url, headers=headers, extensions=extensions) as response:
            location = response.headers.get("location", "")
            if response.status_code in (301, 302, 303, 307, 308) and location:
                return location
            return await self._page(response, target)

    async def _page(self, response: httpx2.Response, target: Target) -> Page:
        body = bytearray()
        async for chunk in response.aiter_bytes(64 * 1024):
            body += chunk
            if len(body) > self._size:
                break
        kind, _, parameters = response.headers.get("content-type", "").partition(";")
        charset = parameters.partition("charset=")[2].split(";")[0].strip(" \"'")
        return Page(
            url=target.url,
            status=response.status_code,
            media_type=kind.strip().lower(),
            charset=charset,
            body=bytes(body[: self._size]),
            cut=len(body) > self._size,
        )

    async def _checked(self, target: Target) -> IpAddress:
        """An address of the target that may be connected to; ToolFailure says why none may."""
        if is_metadata(target):
            raise ToolFailure(f"{target.host} is a metadata service and is never fetched.")
        literal = target.literal
        found = [literal] if literal else list(await self._resolve(target.host, target.port))
        if not found:
            raise ToolFailure(f"{target.host} has no address.")
        # A local name or address stands in the URL itself: the permission for it covered that.
        known = target.local or target.host in self._private
        kinds = {kind_of(address): address for address in found}
        odd = [kind for kind in kinds if kind != "public"]
        if not odd or (known and "never" not in kinds):
            return found[0]
        if odd == ["private"] and await self._confirm(target.host, kinds["private"]):
            return found[0]
        raise ToolFailure(
            f"{target.host} answers with {kinds[odd[0]]}, which is not a public address; it was"
            " not contacted."
        )

    def _proxied(self, target: Target) -> bool:
        """Whether a proxy of the environment will resolve the name and connect in our place."""

        def named(name: str) -> str:
            return self._env.get(name) or self._env.get(name.upper()) or ""

        if not (named(f"{target.scheme}_proxy") or named("all_proxy")):
            return False
        exempt = [entry.strip().lstrip(".") for entry in named("no_proxy").lower().split(",")]
        host = target.host
        return not any(e == "*" or host == e or host.endswith(f".{e}") for e in exempt if e)
