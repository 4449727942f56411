"""Where a URL really leads: its host in the one form all parsers agree on.

Anything parsers read in different ways is refused, never interpreted.
"""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import urljoin

import msgspec

from gatewright.tools.system.addresses import METADATA, METADATA_NAMES, IpAddress, kind_of

LONGEST = 2000
_LOCAL = (".localhost", ".local", ".internal", ".home.arpa")
_URL = re.compile(r"(https?)://([^/?#@\\%\s]+)((?:[/?#][^\x00-\x20\x7f\\]*)?)", re.IGNORECASE)
_HOST = re.compile(r"(\[[0-9a-fA-F:.]+\]|[^\[\]:]+)(?::(\d{1,5}))?")
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]*|[0-9]+")
_PORTS = {"http": 80, "https": 443}


class Target(msgspec.Struct, frozen=True):
    """A checked URL: `host` is ASCII, lower case, without a trailing dot or brackets."""

    scheme: str
    host: str
    port: int
    rest: str

    @property
    def url(self) -> str:
        name = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == _PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{name}{port}{self.rest}"

    @property
    def literal(self) -> IpAddress | None:
        """The address, where the host spells one."""
        try:
            return ipaddress.ip_address(self.host)
        except ValueError:
            return None

    @property
    def local(self) -> bool:
        """A name that only the local network knows, or an address that is not public."""
        address = self.literal
        if address is not None:
            return kind_of(address) != "public"
        return "." not in self.host or self.host.endswith(_LOCAL)


def parse(text: str) -> Target:
    """The target of an absolute http or https URL; ValueError says what is wrong with it."""
    if len(text) > LONGEST:
        raise ValueError(f"the URL is longer than {LONGEST:,} characters")
    if "@" in text.partition("://")[2].partition("/")[0]:
        raise ValueError("a URL with a user name or password is not fetched")
    found = _URL.fullmatch(text.strip(" "))
    authority = _HOST.fullmatch(found[2]) if found else None
    if found is None or authority is None:
        raise ValueError("not a plain http or https URL")
    scheme = found[1].lower()
    port = int(authority[2] or _PORTS[scheme])
    if not 0 < port < 65536:
        raise ValueError("the port is out of range")
    rest = found[3].partition("#")[0]
    return Target(scheme, _host(authority[1]), port, rest if rest.startswith("/") else "/" + rest)


def _host(text: str) -> str:
    if text.startswith("["):
        return str(ipaddress.IPv6Address(text[1:-1]))
    host = _ascii(text).lower().removesuffix(".")
    parts = host.split(".")
    if _NUMBER.fullmatch(parts[-1]):
        # Decimal, octal, hexadecimal and short forms: resolvers take them, people misread them.
        return str(ipaddress.IPv4Address(host))
    if len(host) > 253 or not all(re.fullmatch(r"[a-z0-9_-]{1,63}", part) for part in parts):
        raise ValueError("the host is no valid name")
    return host


def _ascii(host: str) -> str:
    if host.isascii():
        return host
    import idna  # noqa: PLC0415  lazy: 8 ms

    try:
        return idna.encode(host, uts46=True).decode("ascii")
    except idna.IDNAError:
        raise ValueError("the host is no valid name") from None


def is_metadata(target: Target) -> bool:
    return target.host in METADATA_NAMES or target.host in METADATA


def redirect(source: Target, location: str) -> Target | None:
    """Where a redirect may be followed to: the same host and port, or its upgrade to https."""
    try:
        there = parse(urljoin(source.url, location))
    except ValueError:
        return None
    if there.host != source.host:
        return None
    if (there.scheme, there.port) == (source.scheme, source.port):
        return there
    upgraded = (source.scheme, source.port, there.scheme, there.port) == ("http", 80, "https", 443)
    return there if upgraded else None
