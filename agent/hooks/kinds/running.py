"""One handler's run as data: what it is told, and what came of it before anybody reads that."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from gatewright.agent.hooks.events import EVENTS
from gatewright.agent.hooks.handlers import Handler
from gatewright.tools.access import MAIN, Access
from gatewright.tools.protocol import JsonObject, Spawn, ToolCall

KEPT = 1024 * 1024  # bytes of each stream
_NAMED = re.compile(r"\$\{([^{}]+)\}")


class Firing(msgspec.Struct, frozen=True, kw_only=True):
    """One event that came: its JSON is made once, whoever hears of it."""

    event: str
    input: JsonObject
    data: bytes  # the input as JSON, with a line break
    value: str = ""  # what matchers look at
    agent: str = MAIN
    cwd: Path
    call: ToolCall | None = None
    access: Access | None = None
    lone: bool = False  # about a call that a handler itself makes

    @classmethod
    def of(cls, event: str, input: JsonObject, *, cwd: Path, agent: str = MAIN) -> Firing:
        matched = EVENTS[event].matches
        value = str(input.get(matched, "")) if matched else ""
        data = msgspec.json.encode(input) + b"\n"
        return cls(event=event, input=input, data=data, value=value, cwd=cwd, agent=agent)

    @property
    def call_id(self) -> str:
        return self.call.id if self.call is not None else ""


class Output(msgspec.Struct, frozen=True, kw_only=True):
    """`failure` says why there is no answer at all; `answer` is one that came as JSON already.

    `blocks`: a failure that counts as a strict one, whatever the handler is.
    """

    exit: int | None = None
    stdout: str = ""
    stderr: str = ""
    failure: str = ""
    answer: dict[str, Any] | None = None
    ms: int = 0
    cancelled: bool = False
    blocks: bool = False


Run: TypeAlias = Callable[[Handler, Firing], Awaitable[Output]]


class Ports(msgspec.Struct, frozen=True, kw_only=True):
    """What running needs of the session."""

    spawn: Spawn
    env: Callable[[bool], Mapping[str, str]]  # of what is started; scrubbed like a command's?
    root: Path  # where the session started, whatever it moved to
    session: str
    prelude: str = ""  # what a shell runs first, so that it can be found again
    env_file: Path | None = None  # sourced before every command
    effort: Callable[[], str] = str


def variables(ports: Ports, handler: Handler) -> dict[str, str]:
    """What `${…}` means in a handler, and what its program finds in its environment."""
    both = {f"{prefix}_PROJECT_DIR": str(ports.root) for prefix in ("CLAUDE", "GATEWRIGHT")}
    return {**both, **dict(handler.place.given)}


def filled(text: str, values: Mapping[str, str]) -> str:
    """What is put in is not looked through again."""
    return _NAMED.sub(lambda match: values.get(match[1], match[0]), text)
