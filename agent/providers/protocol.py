"""What the loop asks of a model, and the pieces an answer arrives in."""

from __future__ import annotations

import enum
from collections.abc import AsyncGenerator
from typing import Protocol, TypeAlias, runtime_checkable

import msgspec

from gatewright.agent.record.messages import Turn, Usage
from gatewright.tools.protocol import JsonObject, ToolSpec


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """`system` blocks and `tools` are byte-stable for a session: they are the cached prefix.

    With `schema` the answer's text is a JSON object of that schema, where the model can. `agent` is
    who asks, which no server is told. What is asked `once` is not worth keeping in a cache.
    """

    model: str
    system: tuple[str, ...]
    tools: tuple[ToolSpec, ...]
    turns: tuple[Turn, ...]
    max_output: int
    effort: str = ""
    session: str = ""
    schema: JsonObject | None = None
    agent: str = ""
    once: bool = False


class StopReason(enum.StrEnum):
    """Why the model stopped; a turn goes on because of calls, never because of this alone."""

    END = "end"
    CALLS = "calls"
    LENGTH = "length"
    REFUSAL = "refusal"
    PAUSE = "pause"
    OTHER = "other"


class MessageStarted(msgspec.Struct, frozen=True):
    id: str
    model: str


class TextPiece(msgspec.Struct, frozen=True):
    text: str


class ThinkingPiece(msgspec.Struct, frozen=True):
    text: str = ""
    opaque: str = ""
    id: str = ""
    redacted: bool = False


class CallStarted(msgspec.Struct, frozen=True):
    """`id` may be empty: some servers send none, the stream makes one."""

    id: str
    name: str


class InputPiece(msgspec.Struct, frozen=True):
    json: str


class BlockEnded(msgspec.Struct, frozen=True):
    """The block that the preceding pieces belong to is complete. Blocks never interleave."""


class UsageReported(msgspec.Struct, frozen=True):
    """The message's counts so far; a later report replaces an earlier one."""

    usage: Usage


class Alive(msgspec.Struct, frozen=True):
    """A ping, or anything else without content: the server is still there."""


class Queued(msgspec.Struct, frozen=True):
    """Nothing was sent yet: others come before it, or the server wants nothing for so long."""

    seconds: float = 0.0
    ahead: int = 0


class Finished(msgspec.Struct, frozen=True):
    """The last piece of every complete answer; a stream that ends without it was cut."""

    reason: StopReason
    detail: str = ""


Piece: TypeAlias = (
    MessageStarted
    | TextPiece
    | ThinkingPiece
    | CallStarted
    | InputPiece
    | BlockEnded
    | UsageReported
    | Alive
    | Queued
    | Finished
)


class Provider(Protocol):
    """One model API. `stream` raises `ProviderError` only; closing the generator cancels."""

    @property
    def name(self) -> str: ...
    def stream(self, request: Request) -> AsyncGenerator[Piece]: ...
    async def close(self) -> None: ...


@runtime_checkable
class Warming(Protocol):
    """A provider that can have its connection before there is a request; `warm` never raises."""

    async def warm(self) -> None: ...
