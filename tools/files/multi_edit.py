"""MultiEdit: several edits of one file in order, all or none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from gatewright.tools.access import Access, Effect, Where
from gatewright.tools.blocks import Block
from gatewright.tools.files.edit import Replacement, edit, plan
from gatewright.tools.finish import finish
from gatewright.tools.plain import Input, InputTool
from gatewright.tools.protocol import Run, ToolContext


class MultiEditInput(Input, frozen=True):
    file_path: Annotated[str, Meta(min_length=1)]
    edits: Annotated[
        list[Replacement],
        Meta(
            min_length=1, max_length=200, description="Each sees the text the ones before it left"
        ),
    ]


class MultiEdit(InputTool[MultiEditInput]):
    name = "MultiEdit"
    input = MultiEditInput
    prompt = "multi_edit.md"

    def access(self, input: MultiEditInput, where: Where) -> Access:
        return Access(writes=(where.resolve(input.file_path),), effects=Effect.DESTRUCTIVE)

    def title(self, input: MultiEditInput, where: Where) -> tuple[str, str]:
        return "Edit", where.shown(where.resolve(input.file_path))

    async def run(self, input: MultiEditInput, ctx: ToolContext) -> Run:
        yield await finish(edit, ctx.where.resolve(input.file_path), input.edits, ctx)

    def foresee(self, input: MultiEditInput, ctx: ToolContext) -> Sequence[Block]:
        return (plan(ctx.where.resolve(input.file_path), input.edits, ctx).shown,)
