"""Addresses as a fetch would see them: the host every parser agrees on, and what kind it is.

What parsers disagree on is refused rather than interpreted.
"""

from __future__ import annotations

import ipaddress
import re
from typing import Literal, TypeAlias

import msgspec

from gatewright.tools.system.patterns import later

MAX_URL = 2000
Kind: TypeAlias = Literal["public", "private", "loopback", "link_local", "metadata", "unspecified"]
Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address

METADATA_ADDRESSES = frozenset(
    {"169.254.169.254", "fd00:ec2::254", "100.100.100.200", "192.0.0.192"}
)
METADATA_NAMES = frozenset({"metadata.google.internal", "metadata"})
LOCAL_SUFFIXES = (".localhost", ".local", ".internal", ".home.arpa")
_SHARED = ipaddress.ip_network("100.64.0.0/10")
_NAT64 = ipaddress.ip_network("64:ff9b::/96")

_URL = later(r"([A-Za-z][A-Za-z0-9+.-]*)://([^/?#]*)([/?#].*)?", re.DOTALL)
_ODD = later(r"[\x00-\x20\x7f\\]")
_NUMBER = later(r"0[xX][0-9a-fA-F]*|[0-9]+")


class Url(msgspec.Struct, frozen=True):
    """`host` is ASCII, lower case and without a trailing dot; `problem` why it is refused."""

    host: str
    problem: str = ""
    user: bool = False


def parse_url(text: str) -> Url:
    """The host is filled in as far as it can be read, so that deny rules see it anyway."""
    if len(text) > MAX_URL:
        return Url("", f"the address is longer than {MAX_URL:,} characters")
    found = _URL.fullmatch(text.strip(" "))
    if found is None or _ODD.search(text.strip(" ")):
        return Url("", "the address is not a plain http or https URL")
    scheme, authority = found.group(1).lower(), found.group(2)
    user, at, hostport = authority.rpartition("@")
    host = _host_of(hostport)
    if scheme not in ("http", "https"):
        return Url(host, f"only http and https addresses can be fetched, not {scheme}")
    if at and (not user or ":" in user or "@" in user):
        return Url(host, "the address carries credentials before the host")
    if not host:
        return Url("", "the address has no readable host")
    return Url(host, user=bool(at))


def _host_of(hostport: str) -> str:
    if hostport.startswith("["):
        literal, bracket, port = hostport[1:].partition("]")
        if not bracket or (port and not re.fullmatch(r":[0-9]*", port)):
            return ""
        address = _ipv6(literal)
        return str(address) if address is not None else ""
    name, colon, port = hostport.partition(":")
    if colon and port and not port.isdigit():
        return ""
    return ascii_host(name)


def ascii_host(name: str) -> str:
    """Lower-case IDNA without the trailing dot; an empty string when it is no host name."""
    if "%" in name:
        return ""
    try:
        host = name.lower().encode("ascii").decode("ascii")
    except UnicodeEncodeError:
        host = _idna(name)
    host = host.removesuffix(".")
    number = ipv4_of(host)
    if number is not None:
        return str(number)
    if not host or len(host) > 253 or ".." in host or host.startswith("."):
        return ""
    if not re.fullmatch(r"[a-z0-9_.:-]+", host):
        return ""
    if _NUMBER.fullmatch(host.rpartition(".")[2]):
        return ""  # ends in a number but is no address: parsers disagree
    return host


def _idna(name: str) -> str:
    import idna  # noqa: PLC0415  lazy: 8 ms

    try:
        return idna.encode(name, uts46=True, transitional=False).decode("ascii").lower()
    except idna.IDNAError:
        return ""


def ipv4_of(host: str) -> ipaddress.IPv4Address | None:
    """Any form a resolver takes: dotted, short, decimal, octal, hexadecimal."""
    parts = host.split(".")
    if not 1 <= len(parts) <= 4 or not all(_NUMBER.fullmatch(part) for part in parts):
        return None
    values = [_number(part) for part in parts]
    if any(value is None for value in values):
        return None
    numbers = [value for value in values if value is not None]
    *head, last = numbers
    if any(value > 255 for value in head) or last >= 256 ** (5 - len(numbers)):
        return None
    total = last
    for index, value in enumerate(head):
        total += value << (8 * (3 - index))
    return ipaddress.IPv4Address(total)


def _number(text: str) -> int | None:
    try:
        if text[:2].lower() == "0x":
            return int(text[2:] or "0", 16)
        return int(text, 8) if len(text) > 1 and text.startswith("0") else int(text)
    except ValueError:
        return None


def _ipv6(text: str) -> ipaddress.IPv6Address | None:
    try:
        return ipaddress.IPv6Address(text.partition("%")[0])
    except ValueError:
        return None


def literal_address(host: str) -> Address | None:
    """The address a host spells out, or None for a name."""
    return ipv4_of(host) or (_ipv6(host) if ":" in host else None)


def kind_of(address: Address) -> Kind:
    """What stands behind an address, looking through mapped and translated forms."""
    if str(address) in METADATA_ADDRESSES:
        return "metadata"
    if isinstance(address, ipaddress.IPv6Address):
        inner = _embedded(address)
        if inner is not None:
            return kind_of(inner)
    if address.is_unspecified or (address.version == 4 and int(address) >> 24 == 0):
        return "unspecified"
    if address.is_loopback:
        return "loopback"
    if address.is_link_local:
        return "link_local"
    if address.version == 4 and address in _SHARED:
        return "private"
    if address.is_private or address.is_reserved or address.is_multicast:
        return "private"
    return "public"


def _embedded(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address.teredo is not None:
        return address.teredo[1]
    number = int(address)
    if address in _NAT64 or (0 < number < 1 << 32 and number > 1):
        return ipaddress.IPv4Address(number & 0xFFFFFFFF)
    return None


def is_local_name(host: str) -> bool:
    """A name that only means something on this machine or network."""
    return host == "localhost" or "." not in host or host.endswith(LOCAL_SUFFIXES)


def host_matches(host: str, pattern: str, *, subdomains: bool) -> bool:
    """Label-wise: the host itself (unless `subdomains`) or anything below it."""
    return (host == pattern and not subdomains) or host.endswith("." + pattern)
