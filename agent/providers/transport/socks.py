"""The client's side of a SOCKS5 proxy: RFC 1928, with the login of RFC 1929."""

from __future__ import annotations

import asyncio
import ipaddress
import socket

from gatewright.agent.errors import FailureKind, ProviderError
from gatewright.agent.providers.transport.address import Address

_VERSION, _CONNECT = 5, 1
_OPEN, _LOGIN, _NONE_FITS = 0, 2, 255
_IPV4, _NAME, _IPV6 = 1, 3, 4
_LENGTHS = {_IPV4: 4, _IPV6: 16}
_SECONDS = 30.0
_NOT_ALLOWED = 2
_WHY = {
    1: "it failed",
    _NOT_ALLOWED: "its rules forbid it",
    3: "the network cannot be reached",
    4: "the host cannot be reached",
    5: "nothing answers there",
    6: "it took too long",
    7: "it cannot connect to others",
    8: "it does not know this kind of address",
}


async def reach(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, address: Address, proxy: Address
) -> None:
    """From now on the bytes are those of `address`. Raises OSError, TimeoutError, ProviderError."""
    try:
        async with asyncio.timeout(_SECONDS):
            await _greet(reader, writer, proxy)
            place = await _place(address, proxy)
            port = address.port.to_bytes(2, "big")
            writer.write(bytes((_VERSION, _CONNECT, 0)) + place + port)
            await _answered(reader, address, proxy)
    except asyncio.IncompleteReadError as error:
        raise _broken(proxy, "it closed the connection") from error


async def _greet(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, proxy: Address
) -> None:
    offered = bytes((_OPEN, _LOGIN)) if proxy.login else bytes((_OPEN,))
    writer.write(bytes((_VERSION, len(offered))) + offered)
    version, chosen = await reader.readexactly(2)
    if version != _VERSION:
        raise _broken(proxy, "it does not speak SOCKS5")
    if chosen not in offered:
        asked = "it wants a name and a password" if chosen == _NONE_FITS else "it is not understood"
        raise ProviderError(
            FailureKind.REFUSED, f"The proxy {proxy.host_and_port} let nobody in: {asked}."
        )
    if chosen == _LOGIN:
        user, _, password = (part.encode("utf-8") for part in proxy.login.partition(":"))
        if not 0 < len(user) < 256 or not 0 < len(password) < 256:
            raise _broken(proxy, "a name and a password have 1 to 255 bytes each")
        writer.write(bytes((1, len(user))) + user + bytes((len(password),)) + password)
        _, refused = await reader.readexactly(2)
        if refused:
            raise ProviderError(
                FailureKind.REFUSED,
                f"The proxy {proxy.host_and_port} did not take its name and password.",
            )


async def _place(address: Address, proxy: Address) -> bytes:
    """The server as the request names it; without the `h` the name is looked up here."""
    host = address.host
    if proxy.scheme == "socks5" and not _literal(host):
        found = await asyncio.get_running_loop().getaddrinfo(
            host, address.port, type=socket.SOCK_STREAM
        )
        host = str(found[0][4][0])
    if literal := _literal(host):
        return bytes((_IPV4 if literal.version == 4 else _IPV6,)) + literal.packed
    name = host.encode("ascii")
    if len(name) > 255:
        raise _broken(proxy, "the name of the server is too long for it")
    return bytes((_NAME, len(name))) + name


def _literal(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return None


async def _answered(reader: asyncio.StreamReader, address: Address, proxy: Address) -> None:
    version, code, _, kind = await reader.readexactly(4)
    if version != _VERSION:
        raise _broken(proxy, "it does not speak SOCKS5")
    if code:
        refused = FailureKind.REFUSED if code == _NOT_ALLOWED else FailureKind.TRANSPORT
        why = _WHY.get(code, f"error {code}")
        raise ProviderError(
            refused,
            f"The proxy {proxy.host_and_port} refused the way to {address.host_and_port}: {why}.",
        )
    if kind not in _LENGTHS and kind != _NAME:
        raise _broken(proxy, "its answer is not understood")
    length = (await reader.readexactly(1))[0] if kind == _NAME else _LENGTHS[kind]
    await reader.readexactly(length + 2)  # where it connected from, which is of no use here


def _broken(proxy: Address, why: str) -> ProviderError:
    return ProviderError(FailureKind.TRANSPORT, f"The proxy {proxy.host_and_port} failed: {why}.")
