"""Real tools on a real directory, with every port recorded."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from gatewright.tools.access import Where
from gatewright.tools.calls import Facts
from gatewright.tools.executor import RawExecutor
from gatewright.tools.files.fs import ReadLedger
from gatewright.tools.interact import Answer, Ask
from gatewright.tools.protocol import (
    Progress,
    TextContent,
    Tool,
    ToolCall,
    ToolContext,
    ToolResult,
    ToolSpec,
)
from gatewright.tools.registry import TOOLS, BuiltinTools
from gatewright.tools.system.processes import spawn
from tests.fakes.executor import executed


class OneTool:
    """A source of given tools, before the built-in ones."""

    def __init__(self, *tools: Tool[Any]) -> None:
        self._tools = {tool.name: tool for tool in tools}

    def specs(self, *, short: bool = False) -> Sequence[ToolSpec]:
        return ()

    def find(self, name: str) -> Tool[Any] | None:
        return self._tools.get(name)


class Toolbox:
    """`call` runs a tool as the loop would, without a gate."""

    def __init__(self, root: Path, *tools: Tool[Any], env: Mapping[str, str] | None = None) -> None:
        self.root = root
        self.progress: list[Progress] = []
        self.moved: list[Path] = []
        self.asked: list[Ask] = []
        self.answers: list[Answer] = []
        self.ledger = ReadLedger()
        self._count = 0
        self.executor = RawExecutor([OneTool(*tools), BuiltinTools(TOOLS)])
        home = root.parent / "home"
        usual = {"PATH": os.environ["PATH"], "HOME": str(home), "LC_ALL": "C.UTF-8"}
        self.ctx = ToolContext(
            where=Where(root, root, home),
            ledger=self.ledger,
            spawn=spawn,
            ask=self._ask,
            progress=self.progress.append,
            move=self._move,
            env={**usual, **(env or {})},
            spill=root.parent / "spill",
        )

    async def _ask(self, ask: Ask) -> Answer:
        self.asked.append(ask)
        return self.answers.pop(0)

    def _move(self, path: Path) -> None:
        self.moved.append(path)
        self.set(where=Where(path, self.root, self.ctx.where.home))

    def set(self, **ports: object) -> None:
        self.ctx = msgspec.structs.replace(self.ctx, **ports)

    def _call(self, name: str, input: Mapping[str, Any]) -> ToolCall:
        self._count += 1
        return ToolCall(str(self._count), name, dict(input))

    async def facts(self, name: str, /, **input: object) -> Facts:
        prepared = await self.executor.prepare(self._call(name, input), self.ctx.where)
        return prepared.facts

    async def call(self, name: str, /, **input: object) -> ToolResult:
        return await executed(self.executor, self._call(name, input), self.ctx)

    async def said(self, name: str, /, **input: object) -> str:
        """The text of a call that must succeed."""
        result = await self.call(name, **input)
        assert result.ok, text(result)
        return text(result)

    async def refused(self, name: str, /, **input: object) -> str:
        """The text of a call that must fail."""
        result = await self.call(name, **input)
        assert not result.ok, text(result)
        return text(result)


def text(result: ToolResult) -> str:
    return "\n".join(part.text for part in result.content if isinstance(part, TextContent))
