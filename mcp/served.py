"""What other MCP clients are offered, and who runs their calls: plain data, nothing of the SDK."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol, TypeAlias

import msgspec

from gatewright.tools.protocol import JsonObject, Progress, ToolResult


class Offer(msgspec.Struct, frozen=True, kw_only=True):
    """One tool; what it may do is said as hints, and decided by nobody but the gate."""

    name: str
    description: str
    schema: JsonObject
    read_only: bool = False
    destructive: bool = True
    open_world: bool = True


class Question(msgspec.Struct, frozen=True):
    """What the person at the client is asked; they pick one of the choices."""

    message: str
    choices: tuple[str, ...]


# The choice; an empty text declines, and None is that nobody answered.
Put: TypeAlias = Callable[[Question], Awaitable[str | None]]


class ServedCall(msgspec.Struct, frozen=True):
    """A call of a client. Without `put` there is nobody to ask."""

    client: str
    name: str
    arguments: JsonObject
    put: Put | None
    heard: Callable[[Progress], None]


class Unserved(Exception):
    """Nothing can be offered or run here; the text says why."""


class Calls(Protocol):
    """Who offers and runs, for one client. Both raise Unserved."""

    async def offers(self, client: str, *, asks: bool) -> Sequence[Offer]: ...

    async def run(self, call: ServedCall) -> ToolResult:
        """Cancelled, it ends what it began, which may take a moment."""
        ...

    async def close(self) -> None:
        """The client is gone, and nothing of it under way."""
        ...
