"""`--http [PORT]` of `agent mcp serve`: where it listens, and the token that lets a client in."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping, Sequence

import msgspec

from gatewright.agent.launch.exits import UsageError

FLAG = "--http"
TOKEN = "GATEWRIGHT_SERVE_TOKEN"
_TOKEN = re.compile(r"[A-Za-z0-9._~+/=-]{32,512}")  # what a header carries, and nobody guesses


class Http(msgspec.Struct, frozen=True):
    port: int = 0  # 0 takes a free one


def http_of(words: Sequence[str]) -> tuple[Http | None, list[str]]:
    """What is said of HTTP, and the other words. Raises UsageError."""
    rest = list(words)
    found: Http | None = None
    for at, word in enumerate(words):
        name, joined, value = word.partition("=")
        if word == "--":
            break
        if name != FLAG:
            continue
        if found is not None:
            raise UsageError(f"{FLAG} is given twice.")
        following = words[at + 1] if at + 1 < len(words) else ""
        taken = 1 if joined or not following.isdecimal() else 2
        found = Http(_port(value if joined else following)) if joined or taken == 2 else Http()
        del rest[at : at + taken]
    return found, rest


def _port(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or not 0 <= int(text) <= 65535:
        raise UsageError(f"{FLAG} takes a port from 0, a free one, to 65535.")
    return int(text)


def token_of(env: Mapping[str, str]) -> tuple[str, str]:
    """The token, and how an entry of a client names it. Raises UsageError."""
    given = env.get(TOKEN, "")
    if not given:
        made = secrets.token_urlsafe(32)
        return made, made
    if not _TOKEN.fullmatch(given):
        raise UsageError(
            f"{TOKEN} holds 32 to 512 letters, digits and . _ ~ + / = -, such as"
            " `openssl rand -hex 32` prints."
        )
    return given, f"${{{TOKEN}}}"


def entry(name: str, url: str, shown: str) -> str:
    """What a client writes down to come here."""
    headers = {"Authorization": f"Bearer {shown}"}
    servers = {"mcpServers": {name: {"type": "http", "url": url, "headers": headers}}}
    return msgspec.json.format(msgspec.json.encode(servers)).decode()
