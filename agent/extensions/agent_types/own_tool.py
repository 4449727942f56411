"""A tool that some agents have and no other: whoever else calls it is told so."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import aclosing
from typing import Any, cast

from gatewright.tools.access import Access, Row, Where
from gatewright.tools.blocks import Block
from gatewright.tools.protocol import (
    JsonObject,
    Progress,
    Run,
    Tool,
    ToolContext,
    ToolFailure,
    ToolResult,
)


class OwnTool:
    def __init__(self, tool: Tool[Any], agents: Collection[str]) -> None:
        self.name, self.time_limit = tool.name, tool.time_limit
        self.row: Row | None = tool.row
        self._tool, self._agents = tool, agents

    def read(self, raw: JsonObject) -> Any:
        return self._tool.read(raw)

    def access(self, input: Any, where: Where) -> Access:
        return self._tool.access(input, where)

    def title(self, input: Any, where: Where) -> tuple[str, str]:
        return self._tool.title(input, where)

    def view(self, input: Any, result: ToolResult | None) -> Sequence[Block]:
        return self._tool.view(input, result)

    async def run(self, input: Any, ctx: ToolContext) -> Run:
        if ctx.agent not in self._agents:
            raise ToolFailure(f"{self.name} is there for agents of another type alone.")
        stream = cast("AsyncGenerator[Progress | ToolResult]", self._tool.run(input, ctx))
        async with aclosing(stream) as items:
            async for item in items:
                yield item
