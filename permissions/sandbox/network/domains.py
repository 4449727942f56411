"""Which hosts a command may reach: names by label, addresses by what network they are in."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from typing import Final, TypeAlias

from gatewright.tools.system.patterns import later

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address

_NAME = later(r"(?!-)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*")
_NUMBERS = later(r"(?:0x[0-9a-f]+|\d+)(?:\.(?:0x[0-9a-f]*|\d*))*")
_LOCAL: Final = (".localhost", ".local", ".internal", ".home.arpa", ".lan")
_PRIVATE: Final = tuple(
    ipaddress.ip_network(text)
    for text in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16",
        "172.16.0.0/12", "192.0.0.0/24", "192.168.0.0/16", "198.18.0.0/15", "224.0.0.0/4",
        "240.0.0.0/4", "::/127", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8",
    )
)  # fmt: skip
_NAT64: Final = (ipaddress.ip_network("64:ff9b::/96"), ipaddress.ip_network("64:ff9b:1::/48"))


def host_of(text: str) -> str:
    """The host in the one spelling we compare, or empty when it is none. Brackets are taken off."""
    host = text.strip().casefold()
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1].partition("%")[0]
    host = host.removesuffix(".")
    address = address_of(host)
    if address is not None:
        return str(address)
    if not host.isascii():
        import idna  # noqa: PLC0415  lazy: 6 ms, few names need it

        try:
            host = idna.encode(host, uts46=True).decode("ascii")
        except idna.IDNAError:
            return ""
    # What a resolver might take for a number in another base is no name.
    if _NUMBERS.fullmatch(host) or len(host) > 253:
        return ""
    return host if _NAME.fullmatch(host) else ""


def address_of(host: str) -> Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def matches(rule: str, host: str, port: int = 0) -> bool:
    """`example.com` is that host and what lies below it, `*.example.com` only what lies below.

    A rule that ends with `:8080` is about that port alone.
    """
    rule, number = split_port(rule.strip().casefold())
    if number and port and number != port:
        return False
    rule = rule.removesuffix(".")
    if rule == "*":
        return True
    below = rule.startswith("*.")
    base = host_of(rule.removeprefix("*."))
    if not base:
        return False
    if address_of(base) is not None or address_of(host) is not None:
        return base == host and not below
    return host.endswith(f".{base}") or (host == base and not below)


def split_port(text: str) -> tuple[str, int]:
    """A host and the number behind it, 0 where there is none; addresses with colons in brackets."""
    host, colon, number = text.rpartition(":")
    if not colon or not number.isdecimal() or len(number) > 5 or (":" in host and host[-1:] != "]"):
        return text, 0
    return host, int(number)


def named(rules: Iterable[str], host: str) -> bool:
    """Whether a rule is about exactly this host: enough for an address or a local name."""
    return any(host_of(split_port(rule.strip())[0]) == host for rule in rules)


def local_name(host: str) -> bool:
    return host == "localhost" or host.endswith(_LOCAL) or ("." not in host and ":" not in host)


def private(address: Address) -> bool:
    """Whether it is of this machine or its networks, also when wrapped in another form."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if inner is None and address.teredo is not None:
            inner = address.teredo[1]
        if inner is None and any(address in network for network in _NAT64):
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return private(inner)
    return any(address in network for network in _PRIVATE)
