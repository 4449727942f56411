"""What a login at a server gave: the one thing that is kept of it, as one secret text.

It is found by the server's address and the client's id; its tokens go to that server alone, and
what renews them to the one address that handed them out.
"""

from __future__ import annotations

import hashlib
from typing import Protocol
from urllib.parse import urlsplit, urlunsplit

import msgspec

from gatewright.mcp.network.addresses import Depth

SOON = 60.0  # seconds before its end that a token is renewed


class Grant(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Without `access` it is a client alone: known, and not logged in."""

    resource: str
    issuer: str = ""
    client_id: str = ""
    client_secret: str = ""
    client_auth: str = ""  # how the client says who it is: none, client_secret_basic or _post
    redirect: str = ""  # that the client is registered with
    token_url: str = ""
    revoke_url: str = ""
    deepest: Depth = "public"  # how far inside a network those addresses may lie
    access: str = ""
    refresh: str = ""
    until: float = 0.0  # when `access` ends; 0 is never
    scope: str = ""

    def soon_over(self, now: float) -> bool:
        return bool(self.until) and now >= self.until - SOON

    def over(self, now: float) -> bool:
        return bool(self.until) and now >= self.until

    def without_tokens(self) -> Grant:
        return msgspec.structs.replace(self, access="", refresh="", until=0.0)

    def secrets(self) -> tuple[str, ...]:
        return tuple(filter(None, (self.access, self.refresh, self.client_secret)))


class Keeper(Protocol):
    """Where secrets are kept, by name. It may be slow, and is asked in a thread."""

    def find(self, name: str) -> str: ...
    def put(self, name: str, text: str) -> None: ...
    def drop(self, name: str) -> bool: ...


def resource_of(url: str) -> str:
    """The address as a resource is named: without what says who one is, and without a fragment."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2].lower()
    return urlunsplit((parts.scheme.lower(), host, parts.path, parts.query, ""))


def name_of(resource: str, client: str) -> str:
    """Under which a login is kept: its host for people, the rest as a digest."""
    digest = hashlib.sha256(f"{resource}\n{client}".encode()).hexdigest()[:24]
    return f"{urlsplit(resource).hostname or 'server'} {digest}"
