"""Decides about one connection out of the sandbox: by name, then by every address of the name."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from gatewright.permissions.sandbox.network.domains import (
    address_of,
    host_of,
    local_name,
    matches,
    named,
    private,
)
from gatewright.permissions.sandbox.profile import Network

Resolve: TypeAlias = Callable[[str, int], Awaitable[tuple[str, ...]]]
AskDomain: TypeAlias = Callable[[str, int], Awaitable[bool]]
Refusal: TypeAlias = Callable[[str, str], None]


class Refused(Exception):
    """The text says why, for the command's output."""


async def resolve(host: str, port: int) -> tuple[str, ...]:
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise Refused(f"{host} has no address: {error}.") from None
    return tuple(dict.fromkeys(str(each[4][0]).partition("%")[0] for each in found))


async def nobody(host: str, port: int) -> bool:
    """Nobody is there to ask: what is not allowed is refused."""
    del host, port
    return False


def _unheard(host: str, why: str) -> None:
    del host, why


@dataclass(slots=True)
class Egress:
    """The rules of one session; answers to asks are kept for it."""

    network: Network
    ask: AskDomain = nobody
    resolve: Resolve = resolve
    refused: Refusal = _unheard
    _answers: dict[tuple[str, int], bool] = field(default_factory=dict[tuple[str, int], bool])
    _asking: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def addresses(self, name: str, port: int) -> tuple[str, ...]:
        """Where to connect, checked. Raises Refused."""
        host = host_of(name)
        try:
            if not host:
                raise Refused(f"{name[:80]!r} is no host name.")
            await self._by_name(host, port)
            return await self._by_address(host, port)
        except Refused as refusal:
            self.refused(host or name[:80], str(refusal))
            raise

    async def _by_name(self, host: str, port: int) -> None:
        network = self.network
        if any(matches(rule, host, port) for rule in network.denied):
            raise Refused(f"{host} is a denied domain.")
        if network.reach == "none":  # settings closed it while a command goes on
            raise Refused("The sandbox has no network any more.")
        if any(matches(rule, host, port) for rule in network.allowed):
            return
        place = (host, port)  # as the question names it: a yes opens no other port
        async with self._asking:  # one question at a time, and one for each place
            if place not in self._answers:
                self._answers[place] = await self.ask(host, port)
        if not self._answers[place]:
            raise Refused(
                f"{host} is not an allowed domain of the sandbox (sandbox.network.allowedDomains)."
            )

    async def _by_address(self, host: str, port: int) -> tuple[str, ...]:
        literal = address_of(host)
        found = (host,) if literal is not None else await self.resolve(host, port)
        network = self.network
        if network.private:
            return found
        if (literal is not None or local_name(host)) and named(network.allowed, host):
            return found
        for text in found:
            address = address_of(text)
            if address is None or private(address):
                raise Refused(f"{host} is at {text}, an address of a private network.")
        return found
