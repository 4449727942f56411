"""ToolSearch and CallTool: how a model finds and calls what is not in its requests.

Both are in the requests from the first one on wherever anything is, or may be, put off: so what
comes and goes changes no byte of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from gatewright.agent.context.tool_sources import ToolSources
from gatewright.tools.access import Effect, Where
from gatewright.tools.plain import StructTool
from gatewright.tools.protocol import (
    JsonObject,
    Run,
    ToolCall,
    ToolContext,
    ToolResult,
    ToolSpec,
)

FOUND, MOST_FOUND = 5, 20
MOST_CHARS = 20_000
EXACT = "select:"
IN_REQUEST = "is one of the tools of this request: call it directly"
NONE = "No tool fits. Try other words, or select:NAME for one that was named."

SEARCH = ToolSpec(
    "ToolSearch",
    "Find tools that can be called besides those of this request, with their descriptions and "
    "schemas; then call one with CallTool. The query is words of what the tool should do "
    "(+word must occur), or select:name_a,name_b for tools that were named to you, or "
    "mcp__server for all of a server's.",
    {
        "type": "object",
        "properties": {
            "query": {"type": "string"},
            "max_results": {"type": "integer", "minimum": 1, "maximum": MOST_FOUND},
        },
        "required": ["query"],
        "additionalProperties": False,
    },
)
CALL = ToolSpec(
    "CallTool",
    "Call a tool that is not one of this request's, by its name and with its input, as ToolSearch "
    "showed them.",
    {
        "type": "object",
        "properties": {"name": {"type": "string"}, "input": {"type": "object"}},
        "required": ["name"],
        "additionalProperties": False,
    },
)


class Query(msgspec.Struct, frozen=True):
    query: str
    max_results: int = FOUND


class Carried(msgspec.Struct, frozen=True):
    name: str
    input: dict[str, Any] = {}


class ToolSearch(StructTool[Query]):
    name, input, effects = "ToolSearch", Query, Effect.FREE | Effect.READ_ONLY

    def __init__(self, sources: ToolSources) -> None:
        self._sources = sources

    def title(self, input: Query, where: Where) -> tuple[str, str]:
        del where
        return "Search tools", input.query

    async def run(self, input: Query, ctx: ToolContext) -> Run:
        del ctx
        await self._sources.settled()
        yield ToolResult.text(self._found(input), summary="")

    def _found(self, input: Query) -> str:
        most = max(1, min(input.max_results, MOST_FOUND))
        beside = {spec.name: spec for spec in self._sources.beside()}
        query = input.query.strip()
        if query.startswith(EXACT):
            return self._exact([n.strip() for n in query[len(EXACT) :].split(",")], beside)
        lead = f"{query}__"
        if " " not in query and any(name.startswith(lead) for name in beside):
            of_server = [spec for name, spec in beside.items() if name.startswith(lead)]
            return _shown(of_server[: max(most, MOST_FOUND)])
        from gatewright.agent.context.tool_ranking import ranked  # noqa: PLC0415  only for a search

        found = ranked(query, tuple(beside.values()))[:most]
        others = self._sources.found(query, most)
        texts = ([_shown(found)] if found else []) + (["\n".join(others)] if others else [])
        return "\n\n".join(texts) or NONE

    def _exact(self, names: Sequence[str], beside: dict[str, ToolSpec]) -> str:
        every = {spec.name for spec in self._sources.specs()}
        told = [f"{n} {IN_REQUEST}." for n in names if n in every and n not in beside]
        told += [f"There is no tool named {n}." for n in names if n and n not in every]
        found = [beside[n] for n in names[:MOST_FOUND] if n in beside]
        return "\n".join([*told, *([_shown(found)] if found else [])]) or NONE


class CallTool(StructTool[Carried]):
    """Whoever prepares a call puts the carried one in its place, before anybody judges it."""

    name, input = "CallTool", Carried

    def carried(self, id: str, input: Carried) -> ToolCall:
        return ToolCall(id, input.name, input.input)

    async def run(self, input: Carried, ctx: ToolContext) -> Run:
        del ctx
        yield ToolResult.failed(f"CallTool only carries the call of {input.name}.")


class SearchTools:
    """A source of these two, for as long as there is something to find."""

    def __init__(self, sources: ToolSources) -> None:
        self._sources = sources

    def specs(self, *, short: bool = False) -> Sequence[ToolSpec]:
        del short
        return (SEARCH, CALL) if self._sources.searched else ()

    def find(self, name: str) -> ToolSearch | CallTool | None:
        match name:
            case "ToolSearch":
                return ToolSearch(self._sources)
            case "CallTool" | "DeferExecuteTool" | "ExecuteExtraTool":
                return CallTool()
            case _:
                return None


def _shown(specs: Sequence[ToolSpec]) -> str:
    texts: list[str] = []
    room = MOST_CHARS
    for spec in specs:
        text = f"{spec.name}\n{spec.description}\ninput: {_json(spec.schema)}"
        if len(text) > room:
            texts.append(f"{spec.name}: too long to show beside the others; search for it alone.")
            continue
        room -= len(text)
        texts.append(text)
    return "\n\n".join(texts)


def _json(value: JsonObject) -> str:
    return msgspec.json.encode(value).decode()
