"""The entry of a server as `agent mcp add` writes it down, from the words of the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gatewright.agent.launch.exits import UsageError


def entry(
    words: Sequence[str], transport: str, env: Sequence[str], headers: Sequence[str]
) -> dict[str, Any]:
    """Raises UsageError."""
    raw: dict[str, Any]
    address = words[0].startswith(("http://", "https://"))
    if address and len(words) == 1 and transport != "stdio":
        raw = {"type": transport or "http", "url": words[0]}
        if headers:
            raw["headers"] = dict(_pair(each, ":") for each in headers)
    else:
        raw = {"command": words[0], "args": list(words[1:])}
        if transport not in ("", "stdio"):
            raise UsageError(f"A server behind {transport} has an address, not a command.")
        if env:
            raw["env"] = dict(_pair(each, "=") for each in env)
    if (env and "url" in raw) or (headers and "command" in raw):
        raise UsageError("--env is for a program, --header for an address.")
    return raw


def login_of(raw: Mapping[str, Any], client: str, port: int) -> Mapping[str, Any]:
    """What is said of its login. Raises UsageError."""
    given = {"clientId": client, "callbackPort": port}
    said = {key: value for key, value in given.items() if value}
    if said and "url" not in raw:
        raise UsageError("--client-id and --callback-port are for an address, where people log in.")
    return {"oauth": said} if said else {}


def _pair(text: str, mark: str) -> tuple[str, str]:
    key, found, value = text.partition(mark)
    if not found or not key.strip():
        raise UsageError(f"{text.partition(mark)[0]!r} is no KEY{mark}value.")
    return key.strip(), value.strip() if mark == ":" else value
