"""What a login needs to know, and of the person who logs in."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

import msgspec

from gatewright.mcp.definitions import OAuth
from gatewright.mcp.oauth.callback import Callback


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """A login at the server at `url`. `own`: the person wrote the definition down."""

    url: str
    headers: Mapping[str, str] = {}
    oauth: OAuth = OAuth()
    own: bool = True
    metadata_url: str = ""  # of ourselves as a client, where a server takes such
    challenge: str = ""  # what the server wanted when it refused


class Desk(msgspec.Struct, frozen=True, kw_only=True):
    """Where the person sits: `show` is the page to open, `callback` also takes what is pasted."""

    sure: Callable[[str], Awaitable[bool]]
    show: Callable[[str, Callback], Awaitable[None]]
