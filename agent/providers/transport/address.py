"""Where a request goes: the parts of a URL, and the proxy that the environment names for it."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

import msgspec

from gatewright.agent.errors import FailureKind, ProviderError

LABEL = 63  # bytes between two dots of a name
_PORTS = {"http": 80, "https": 443}
SOCKS = {"socks5": 1080, "socks5h": 1080}  # `h`: the proxy looks names up
_PROXIES = {**_PORTS, **SOCKS}


class Address(msgspec.Struct, frozen=True):
    """A URL taken apart; `login` is `user:password` of a proxy."""

    scheme: str
    host: str
    port: int
    target: str = "/"
    login: str = ""

    @property
    def authority(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PROXIES[self.scheme] else f"{host}:{self.port}"

    @property
    def host_and_port(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


def parse_url(url: str, known: Mapping[str, int] = _PORTS) -> Address:
    """Raises `ProviderError` with a sentence for the person where the URL is no HTTP URL.

    `known` are the schemes that will do, with their ports.
    """
    try:
        parts = urlsplit(url)
        port = parts.port or known[parts.scheme]
        host = (parts.hostname or "").encode("idna" if _international(parts.hostname) else "ascii")
        if not all(0 < len(label) <= LABEL for label in host.removesuffix(b".").split(b".")):
            host = b""  # no name server knows it, and who asks one for it fails on its own
    except (ValueError, KeyError):
        host, port = b"", 0
        parts = None
    if parts is None or not host or any(character <= " " for character in url):
        raise ProviderError(
            FailureKind.REFUSED,
            f"{url!r} is no http:// or https:// address; check the base URL.",
        )
    target = parts.path or "/"
    if parts.query:
        target = f"{target}?{parts.query}"
    login = ""
    if parts.username is not None:
        login = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return Address(parts.scheme, host.decode("ascii"), port, target, login)


def proxy_for(address: Address, env: Mapping[str, str]) -> Address | None:
    """The proxy for this address; a server on this machine is always reached directly."""
    if on_loopback(address.host) or _exempt(address, _read(env, "no_proxy")):
        return None
    url = _read(env, f"{address.scheme}_proxy") or _read(env, "all_proxy")
    if not url:
        return None
    proxy = url if "://" in url else f"http://{url}"
    if urlsplit(proxy).scheme not in _PROXIES:
        raise ProviderError(
            FailureKind.REFUSED,
            f"The proxy {url.rpartition('@')[2]} is none of http://, https://, "
            "socks5:// and socks5h://; set HTTPS_PROXY to one that is, or NO_PROXY for this host.",
        )
    return parse_url(proxy, _PROXIES)


def _read(env: Mapping[str, str], name: str) -> str:
    return (env.get(name) or env.get(name.upper()) or "").strip()


def _international(host: str | None) -> bool:
    return host is not None and not host.isascii()


def on_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _exempt(address: Address, listed: str) -> bool:
    for entry in listed.replace(",", " ").split():
        if entry == "*":
            return True
        name, colon, port = entry.rpartition(":")
        if colon and port.isdigit() and not name.endswith(":"):
            if int(port) != address.port:
                continue
            entry = name
        if _covers(entry.lower(), address.host.lower()):
            return True
    return False


def _covers(entry: str, host: str) -> bool:
    if "/" in entry:
        try:
            return ipaddress.ip_address(host) in ipaddress.ip_network(entry, strict=False)
        except ValueError:
            return False
    bare = entry.removeprefix("*").removeprefix(".")
    return host == bare or (bool(bare) and host.endswith(f".{bare}"))
