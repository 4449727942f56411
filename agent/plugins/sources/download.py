"""What is fetched over HTTP for plugins: so many bytes, to a file, from where the address says.

Redirects are followed by hand: each address is looked at again, and what is secret goes to the
first host alone.
"""

from __future__ import annotations

import contextlib
import hashlib
import ipaddress
from collections.abc import AsyncGenerator, Mapping
from typing import BinaryIO, Final
from urllib.parse import urljoin, urlsplit

import msgspec

from gatewright.agent.errors import ProviderError
from gatewright.agent.plugins.sources.limits import Clock, SourceError
from gatewright.agent.providers.transport.address import on_loopback, parse_url
from gatewright.agent.providers.transport.http import DirectTransport
from gatewright.agent.providers.transport.port import Answer, Timeouts
from gatewright.tools.system.addresses import METADATA_NAMES, kind_of

REDIRECTS: Final = 5
_MOVED: Final = frozenset({301, 302, 303, 307, 308})
_OK: Final = 200
_TIMEOUTS: Final = Timeouts(connect=15.0, write=30.0, idle=60.0)


class Digests(msgspec.Struct, frozen=True):
    """Of what was downloaded, in hexadecimal digits but for `sha512`."""

    sha256: str
    sha512: bytes
    bytes: int


class Downloads:
    """Where addresses are asked. `near`: whoever wrote the address may name this machine."""

    def __init__(self, env: Mapping[str, str], clock: Clock, *, near: bool) -> None:
        self._clock = clock
        self._near = near
        self._transport = DirectTransport(env, _TIMEOUTS, admits=self._admits)

    async def close(self) -> None:
        await self._transport.close()

    async def to_file(
        self, url: str, file: BinaryIO, headers: Mapping[str, str] | None = None
    ) -> Digests:
        """Raises SourceError."""
        whole, short, count = hashlib.sha512(), hashlib.sha256(), 0
        async with self._answered(url, headers or {}) as answer:
            async for piece in answer.chunks():
                count += len(piece)
                if count > self._clock.limits.bytes:
                    raise SourceError(f"{url} is larger than {self._clock.limits.amount}.")
                self._clock.left()
                whole.update(piece)
                short.update(piece)
                file.write(piece)
        return Digests(short.hexdigest(), whole.digest(), count)

    async def bytes_of(
        self, url: str, most: int, headers: Mapping[str, str] | None = None
    ) -> bytes:
        """Raises SourceError."""
        found = bytearray()
        async with self._answered(url, headers or {}) as answer:
            async for piece in answer.chunks():
                found += piece
                if len(found) > most:
                    raise SourceError(f"{url} is larger than {most:,} bytes.")
                self._clock.left()
        return bytes(found)

    @contextlib.asynccontextmanager
    async def _answered(self, url: str, headers: Mapping[str, str]) -> AsyncGenerator[Answer]:
        at, said = url, dict(headers)
        try:
            for _ in range(REDIRECTS + 1):
                self._check(at, first=url)
                self._clock.left()
                async with self._transport.send(at, {"accept": "*/*", **said}, None) as answer:
                    if answer.status not in _MOVED:
                        if answer.status != _OK:
                            raise SourceError(f"{at} answers {answer.status}{_why(answer.status)}.")
                        yield answer
                        return
                    following = urljoin(at, answer.headers.get("location", ""))
                if _host(following) != _host(at):
                    said.pop("authorization", None)
                at = following
            raise SourceError(f"{url} leads from one address to the next without an end.")
        except ProviderError as error:
            raise SourceError(str(error)) from error

    def _check(self, at: str, *, first: str) -> None:
        """https; http on this machine alone, for who may name it."""
        parts = urlsplit(at)
        host = parse_url(at).host
        if parts.username is not None:
            raise SourceError("An address with a name or password in it is not asked.")
        if host.lower().rstrip(".") in METADATA_NAMES:
            raise SourceError(f"{host} is never asked.")
        local = on_loopback(host)
        if local and not (self._near and on_loopback(parse_url(first).host)):
            raise SourceError(f"{at} is on this machine, which only you may name.")
        if parts.scheme != "https" and not local:
            raise SourceError(f"{at} is no https address: anybody on the way could change it.")

    def _admits(self, address: str) -> bool:
        kind = kind_of(ipaddress.ip_address(address.partition("%")[0]))
        return kind != "never" and (kind != "loopback" or self._near)


def _host(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc


def _why(status: int) -> str:
    match status:
        case 401 | 403:
            return ", it wants to know who asks"
        case 404 | 410:
            return ": there is nothing"
        case _:
            return ""
