"""Which addresses a server may have: https, or http to this machine and its own network.

Addresses where clouds hand out credentials are never reached, by whatever name. An address that a
server names may lead no deeper than the server's own: what is public leads into no private network.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

import msgspec

from gatewright.tools.system.addresses import METADATA_NAMES, IpAddress, kind_of

Depth: TypeAlias = Literal["public", "private", "loopback"]
_DEPTHS: tuple[Depth, ...] = ("public", "private", "loopback")
NEVER = "its address is one where machines get credentials"
PLAIN = "http is for this machine and private networks: use https"


class Judged(msgspec.Struct, frozen=True):
    """What a name stood for when it was looked up: that is what is connected to."""

    host: str
    port: int | None
    addresses: tuple[str, ...]
    deepest: Depth


async def judged(url: str) -> Judged | str:
    """Where the server is; a text says why it is not connected to."""
    found = await _found(url)
    if isinstance(found, str):
        return found
    _, host, port = origin(url)
    return Judged(host, port, tuple(found), max(found.values(), key=_DEPTHS.index))


async def wrong_address(url: str) -> str:
    """Why the server is not connected to; empty where it may be."""
    found = await judged(url)
    return found if isinstance(found, str) else ""


async def depth(url: str) -> Depth:
    """How far inside the address leads; of one that is wrong nothing is said."""
    found = await _depths(url)
    return "public" if isinstance(found, str) else max(found, key=_DEPTHS.index)


async def wrong_lead(url: str, deepest: Depth) -> str:
    """Why an address that others named is not followed; empty where it may be."""
    found = await _depths(url)
    if isinstance(found, str):
        return found
    if any(_DEPTHS.index(each) > _DEPTHS.index(deepest) for each in found):
        return f"it leads to a {max(found, key=_DEPTHS.index)} address, which the server is not in"
    return ""


def deeper(one: Depth, other: Depth) -> Depth:
    return one if _DEPTHS.index(one) > _DEPTHS.index(other) else other


def within(address: IpAddress, deepest: Depth, scheme: str) -> bool:
    """Whether one that is connected to lies no deeper, and may be talked to that way."""
    kind = kind_of(address)
    if kind == "never" or (scheme == "http" and kind == "public"):
        return False
    return _DEPTHS.index(kind) <= _DEPTHS.index(deepest)


def origin(url: str) -> tuple[str, str, int | None]:
    """What two addresses have in common that belong to one server. ValueError for none."""
    parts = urlsplit(url)
    usual = {"https": 443, "http": 80}.get(parts.scheme)
    return parts.scheme, (parts.hostname or "").rstrip(".").lower(), parts.port or usual


async def _depths(url: str) -> set[Depth] | str:
    """Of all that its name stands for; a text says what is wrong with it."""
    found = await _found(url)
    return found if isinstance(found, str) else set(found.values())


async def _found(url: str) -> dict[str, Depth] | str:
    """All addresses, and how deep each is; a text says what is wrong with one."""
    try:
        scheme, host, port = origin(url)
    except ValueError:
        return "its address cannot be read"
    if scheme not in ("https", "http") or not host:
        return "its address must begin with https:// or http:// and name a host"
    if "\\" in url or any(ord(c) <= 32 for c in url):
        return "its address holds what parsers disagree about"
    if host in METADATA_NAMES:
        return NEVER
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        return f"{host} is not found: {why or error}"
    depths: dict[str, Depth] = {}
    for each in found:
        text = str(each[4][0]).partition("%")[0]
        kind = kind_of(ipaddress.ip_address(text))
        if kind == "never":
            return NEVER
        depths[text] = kind
    if scheme == "http" and "public" in depths.values():
        return PLAIN
    return depths
