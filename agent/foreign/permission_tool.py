"""What another agent asks leave for, as a call: its facts are judged, and running it does nothing.

Whoever was allowed does it itself, in its sandbox. Only agents of other programs can call it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec

from gatewright.tools.access import Access, Effect, ShellText, Where
from gatewright.tools.blocks import Block, Command, Text
from gatewright.tools.plain import StructTool
from gatewright.tools.protocol import Run, ToolContext, ToolFailure, ToolResult

PERMISSION = "AcpPermission"
ALLOWED = "Allowed: the other program does it itself, in its sandbox."
ITSELF = "The other program would do it itself. Your answer does not widen its sandbox."
UNSAID = "It does not say what it would do."


class Act(msgspec.Struct, frozen=True, kw_only=True):
    """What it says it would do; `unsaid`: that this is not all."""

    title: str
    verb: str = "Allow"
    command: str = ""
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()
    unsaid: bool = False


class PermissionTool(StructTool[Act]):
    name, input = PERMISSION, Act

    def __init__(self, agents: Collection[str]) -> None:
        self._agents = agents

    def access(self, input: Act, where: Where) -> Access:
        reads = tuple(map(where.resolve, input.reads))
        writes = tuple(map(where.resolve, input.writes))
        effects = Effect.DESTRUCTIVE if writes or input.unsaid else Effect.NONE
        if reads and not (writes or input.command or input.urls or input.unsaid):
            effects = Effect.READ_ONLY
        return Access(
            reads=reads,
            writes=writes,
            runs=ShellText(input.command, where.cwd) if input.command else None,
            urls=input.urls,
            effects=effects,
            insist=UNSAID if input.unsaid else "",
        )

    def title(self, input: Act, where: Where) -> tuple[str, str]:
        paths = [where.shown(where.resolve(path)) for path in (*input.writes, *input.reads)]
        said = input.command or ", ".join((*paths, *input.urls)) or input.title
        return input.verb, said

    def view(self, input: Act, result: ToolResult | None) -> Sequence[Block]:
        if result is not None:
            return ()
        told = (Text(f"Its own words: {input.title}", "dim"), Text(ITSELF, "dim"))
        return (Command(input.command), *told) if input.command else told

    async def run(self, input: Act, ctx: ToolContext) -> Run:
        del input
        if ctx.agent not in self._agents:
            raise ToolFailure(f"{PERMISSION} is there for agents of other programs alone.")
        yield ToolResult.text(ALLOWED, summary="allowed")
