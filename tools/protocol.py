"""The tool protocol: the only thing gate, loop, MCP and skills know about tools.

Nothing here does anything; concrete tools, the executor and processes live in their own modules.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

import msgspec

from gatewright.tools.access import Access, Effect, Where
from gatewright.tools.blocks import Block, Text
from gatewright.tools.interact import Answer, Ask

if TYPE_CHECKING:
    from pydantic import BaseModel  # 66 ms with the first model: only tools that run pay it

    In = TypeVar("In", bound=BaseModel)
else:
    In = TypeVar("In")

JsonObject: TypeAlias = dict[str, Any]


class TextContent(msgspec.Struct, frozen=True, tag_field="kind", tag="text"):
    text: str


class ImageContent(msgspec.Struct, frozen=True, tag_field="kind", tag="image"):
    media_type: str
    data: str  # base64


class DocumentContent(msgspec.Struct, frozen=True, tag_field="kind", tag="document"):
    media_type: str
    data: str  # base64
    name: str = ""


Content: TypeAlias = TextContent | ImageContent | DocumentContent


class ToolSpec(msgspec.Struct, frozen=True):
    """A tool as a model sees it; `schema` is trimmed JSON Schema."""

    name: str
    description: str
    schema: JsonObject


class ToolCall(msgspec.Struct, frozen=True):
    id: str
    name: str
    input: JsonObject

    def with_input(self, input: JsonObject) -> ToolCall:
        return ToolCall(self.id, self.name, input)


class ToolResult(msgspec.Struct, frozen=True, kw_only=True):
    """`content` is for the model, `view` for people, `data` for hooks and JSON output.

    `summary` is the outcome in a few words ("12 lines", "exit 1"); `ends_turn` gives control back
    to the person after this call.
    """

    ok: bool
    content: tuple[Content, ...]
    view: tuple[Block, ...] = ()
    data: JsonObject = {}
    summary: str = ""
    ends_turn: bool = False

    @classmethod
    def text(cls, text: str, *, summary: str = "", data: JsonObject | None = None) -> ToolResult:
        return cls(ok=True, content=(TextContent(text),), summary=summary, data=data or {})

    @classmethod
    def failed(cls, message: str, *, summary: str = "failed") -> ToolResult:
        return cls(
            ok=False,
            content=(TextContent(message),),
            view=(Text(message, "error"),),
            summary=summary,
        )

    @classmethod
    def refused(cls, message: str, *, ends_turn: bool = False) -> ToolResult:
        return cls(
            ok=False,
            content=(TextContent(message),),
            view=(Text(message, "warning"),),
            summary="refused",
            ends_turn=ends_turn,
        )


class Progress(msgspec.Struct, frozen=True):
    """News from a running call: its last lines, and how much and how long so far."""

    tail: str
    size: int = 0
    seconds: float = 0.0


class ToolFailure(Exception):
    """The one exception a tool may raise; its text is written for the model."""


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """A call as judged and shown before it runs; `error` is set when the input is invalid."""

    access: Access
    verb: str
    target: str
    view: tuple[Block, ...] = ()
    error: str = ""


class SpawnRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A child process: own process group and session, stdin closed, stderr joined to stdout."""

    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str]


class Child(Protocol):
    """A running child process group."""

    @property
    def pid(self) -> int: ...
    async def read(self) -> bytes:
        """The next chunk of output; empty at the end or once the direct child is gone."""
        ...

    async def wait(self) -> int: ...
    async def kill(self, grace: float = 2.0) -> None:
        """TERM the whole group, KILL what is left after `grace` seconds, and reap it."""
        ...


class Confinement(Protocol):
    """An OS sandbox profile, already decided: rewrites a process before it is started."""

    def confine(self, request: SpawnRequest) -> SpawnRequest: ...


class Ledger(Protocol):
    """Remembers which bytes of which files the model has seen in this session."""

    def note(self, path: Path, content: bytes) -> None: ...
    def stale(self, path: Path, content: bytes) -> str:
        """Why a change must be refused ("not read yet", "changed since"), or an empty string."""
        ...


Spawn: TypeAlias = Callable[[SpawnRequest], Awaitable[Child]]
Asker: TypeAlias = Callable[[Ask], Awaitable[Answer]]


class ToolContext(msgspec.Struct, frozen=True, kw_only=True):
    """The ports a running call may use; there is no other way to the outside."""

    where: Where
    ledger: Ledger
    spawn: Spawn
    ask: Asker
    progress: Callable[[Progress], None]
    move: Callable[[Path], None]  # the shell changed directory: later calls start there
    env: Mapping[str, str]
    spill: Path  # directory for output beyond the cap
    agent: str = "main"
    confinement: Confinement | None = None

    def confined(self, confinement: Confinement | None) -> ToolContext:
        return msgspec.structs.replace(self, confinement=confinement)


class Tool(Protocol[In]):
    """One tool, one file. `access` and `title` are pure; failures of `run` are `ToolFailure`."""

    @property
    def name(self) -> str: ...
    @property
    def input(self) -> type[In]: ...
    @property
    def prompt(self) -> str:
        """File name below `tools/prompts/` of the description the model reads."""
        ...

    def access(self, input: In, where: Where) -> Access: ...
    def title(self, input: In, where: Where) -> tuple[str, str]:
        """Verb and target of the one-line summary: ("Read", "src/a.py")."""
        ...

    def run(self, input: In, ctx: ToolContext) -> AsyncIterator[Progress | ToolResult]: ...
    def view(self, input: In, result: ToolResult | None) -> Sequence[Block]:
        """What people see; `result` is None before it ran."""
        ...


class Executor(Protocol):
    """How the loop runs tools. Neither method raises anything but CancelledError."""

    async def facts(self, call: ToolCall, where: Where) -> Facts: ...
    async def execute(self, call: ToolCall, ctx: ToolContext) -> ToolResult: ...


class ToolSource(Protocol):
    """Where tools come from: the built-in registry, an MCP server, the skill catalogue."""

    def specs(self) -> Sequence[ToolSpec]: ...
    def find(self, name: str) -> Tool[Any] | None:
        """May import the tool's module: call it off the event loop the first time."""
        ...


INVALID = Access(effects=Effect.DESTRUCTIVE)  # a call whose input cannot be read is never grouped
