"""A tool of a server as one of ours: its facts are that it is another's, its hints only hints."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, cast

import msgspec

from gatewright.mcp.background import CallJob, watched
from gatewright.mcp.described import Described, printable
from gatewright.mcp.names import ruled
from gatewright.mcp.offered.server_tools import SHADOWS
from gatewright.mcp.schemas import mismatch
from gatewright.tools.access import Access, Effect, RemoteTool, Row, Where
from gatewright.tools.blocks import Block, Code, Text
from gatewright.tools.protocol import JsonObject, Run, ToolContext, ToolFailure, ToolResult

if TYPE_CHECKING:
    from gatewright.mcp.server import Server

SHOWN = 80
AROUND = 40  # characters that did not change, at each end of what did
CHANGED = "The server changed what this tool says of itself since it was accepted"
NEW = "The server offers this tool since its tools were accepted"
WANTS = "The server wants a person to answer for this tool"


class ServerTool:
    row: Row | None = None
    time_limit: float | None = math.inf  # the server's own limits

    def __init__(self, name: str, tool: Described, server: Server) -> None:
        self.name = name
        self._tool, self._server = tool, server

    def read(self, raw: JsonObject) -> JsonObject:
        """Checked where the model knows the schema: what nobody accepted is not told to it."""
        accepted = self._server.accepted(self._tool)
        if accepted is None or accepted.pin != self._tool.pin:
            return raw
        if why := mismatch(self._tool.schema, raw):
            schema = msgspec.json.encode(self._tool.schema).decode()
            raise ToolFailure(
                f"{self.name} was not run, its input is wrong:\n- {why}\nIts schema is: {schema}"
            )
        return raw

    def access(self, input: JsonObject, where: Where) -> Access:
        del input, where
        tool = self._tool
        effects = Effect.NONE
        if tool.read_only:
            effects |= Effect.READ_ONLY
        if tool.destructive:
            effects |= Effect.DESTRUCTIVE
        if tool.open_world:
            effects |= Effect.OPEN_WORLD
        return Access(
            effects=effects,
            remote=RemoteTool(ruled(self._server.name), tool.name),
            insist=self._insists(),
        )

    def _insists(self) -> str:
        accepted = self._server.accepted(self._tool)
        if accepted is None:
            return f"{NEW}: /mcp accept {self._server.name} accepts it."
        if accepted.pin != self._tool.pin:
            return f"{CHANGED}: /mcp accept {self._server.name} accepts it."
        if self._tool.needs_person:
            return f"{WANTS}."
        if self._server.definition.of_project_in_place:
            return SHADOWS
        return ""

    def title(self, input: JsonObject, where: Where) -> tuple[str, str]:
        del where
        short = next((v for v in input.values() if isinstance(v, str) and 0 < len(v) <= SHOWN), "")
        verb = self._tool.title or self._tool.name
        target = " ".join(printable(f"{self._server.name} {short}").split())
        return printable(verb, SHOWN), target

    async def run(self, input: JsonObject, ctx: ToolContext) -> Run:
        def calling(given: ToolContext) -> Awaitable[ToolResult]:
            return self._server.call(self._tool, cast("dict[str, object]", input), given)

        job = CallJob(self.name, calling, ctx)  # in a notice of ours no words of a server stand
        seconds, paused = self._server.background_after, self._server.asks_person
        async with aclosing(watched(job, ctx, seconds=seconds, paused=paused)) as items:
            async for item in items:
                yield item

    def view(self, input: JsonObject, result: ToolResult | None) -> Sequence[Block]:
        if result is not None:
            return ()
        blocks: list[Block] = []
        accepted = self._server.accepted(self._tool)
        if accepted is None or accepted.pin != self._tool.pin:
            blocks += _difference(accepted, self._tool)
        text = msgspec.json.format(msgspec.json.encode(input), indent=1).decode()
        return [*blocks, Code(text, "json")]  # all of it: what is cut off would be said yes to


def _difference(before: Described | None, now: Described) -> list[Block]:
    """What a person must see before a changed tool runs."""
    if before is None:
        return [Text(f"New: {now.description or now.name}", "warning")]
    found: list[Block] = []
    for field in msgspec.structs.fields(Described):
        was, has = (msgspec.to_builtins(tool).get(field.encode_name) for tool in (before, now))
        if was != has:
            old, new = _apart(_text(was), _text(has))
            found.append(Text(f"{field.name} was: {old}\n{field.name} is now: {new}", "warning"))
    return found


def _text(value: object) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _apart(was: str, now: str) -> tuple[str, str]:
    """All in which they differ, and a little of what is the same around it."""
    begin = _alike(was, now)
    same = _alike(was[begin:][::-1], now[begin:][::-1])
    begin, same = max(0, begin - AROUND), max(0, same - AROUND)
    cut = [text[begin : len(text) - same] for text in (was, now)]
    old, new = (f"{'…' if begin else ''}{text}{'…' if same else ''}" for text in cut)
    return old, new


def _alike(one: str, other: str) -> int:
    """Characters at the beginning that are the same."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))
