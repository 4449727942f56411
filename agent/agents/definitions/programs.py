"""The `acp` of a definition: another agent that does the work, each key checked."""

from __future__ import annotations

from typing import Any, cast

from gatewright.agent.agents.kind import Program
from gatewright.tools.system.patterns import later

WORDS, LONGEST = 100, 10_000  # of a list, and characters of one
KEYS = ("command", "args", "env", "network", "write")
OWNERS = ("user", "managed")
NOT_HERE = (
    "acp starts a program, which only a definition of yours (~/.gatewright/agents) or the "
    "administrator's may: move the file there"
)
_NAME = later(r"[A-Za-z_][A-Za-z0-9_]{0,200}")
_HOST = later(r"(?:\*\.)?[A-Za-z0-9](?:[A-Za-z0-9.-]{0,250}[A-Za-z0-9])?")


def read_program(value: Any) -> dict[str, object]:
    """Raises ValueError, with what is wrong of it."""
    if not isinstance(value, dict):
        raise ValueError("is no table: say acp: {command: PROGRAM, args: [...]}")
    table = cast("dict[str, Any]", value)
    for key in table:
        if key not in KEYS:
            raise ValueError(f"has no key {key[:60]!r}: there are {', '.join(KEYS)}")
    command = table.get("command")
    if not isinstance(command, str) or not command.strip() or len(command) > LONGEST:
        raise ValueError("has no command, which is the name or the path of a program")
    network = _texts(table, "network")
    for host in network:
        if not _HOST.fullmatch(host):
            raise ValueError(f"network: {host[:60]!r} is no name such as api.example.com")
    program = Program(
        command=command.strip(),
        args=_texts(table, "args"),
        env=_env(table.get("env") or {}),
        network=network,
        write=_texts(table, "write"),
    )
    return {"acp": program}


def _texts(table: dict[str, Any], key: str) -> tuple[str, ...]:
    value = table.get(key)
    if value is None:
        return ()
    found = cast("list[object]", value) if isinstance(value, list) else [value]
    if len(found) > WORDS or not all(
        isinstance(each, str) and each and len(each) <= LONGEST and "\0" not in each
        for each in found
    ):
        raise ValueError(f"{key} is no list of texts")
    return tuple(cast("list[str]", found))


def _env(value: Any) -> dict[str, str]:
    if not isinstance(value, dict) or len(cast("dict[str, Any]", value)) > WORDS:
        raise ValueError("env is no table of names and texts")
    found: dict[str, str] = {}
    for name, text in cast("dict[str, Any]", value).items():
        plain = isinstance(text, str | int) and not isinstance(text, bool)
        if not _NAME.fullmatch(name) or not plain or "\0" in str(text):
            raise ValueError(f"env: {name[:60]!r} is no name with a text")
        found[name] = str(text)
    return found
