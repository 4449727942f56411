"""NotebookRead: the cells of a notebook with their outputs, all or one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from gatewright.tools.access import Access, Effect, Looks, Where
from gatewright.tools.blocks import Block, Text
from gatewright.tools.counted import counted
from gatewright.tools.files import fs
from gatewright.tools.files.near import missing
from gatewright.tools.files.notebook import Notebook
from gatewright.tools.plain import Input, InputTool
from gatewright.tools.protocol import RawImage, Run, TextContent, ToolContext, ToolResult


class NotebookReadInput(Input, frozen=True):
    notebook_path: Annotated[str, Meta(min_length=1)]
    cell_id: Annotated[str, Meta(description="Only this cell")] | None = None


class NotebookRead(InputTool[NotebookReadInput]):
    name = "NotebookRead"
    input = NotebookReadInput
    prompt = "notebook_read.md"
    looks: Looks = "file"

    def access(self, input: NotebookReadInput, where: Where) -> Access:
        return Access(reads=(where.resolve(input.notebook_path),), effects=Effect.READ_ONLY)

    def title(self, input: NotebookReadInput, where: Where) -> tuple[str, str]:
        return "Read", where.shown(where.resolve(input.notebook_path))

    async def run(self, input: NotebookReadInput, ctx: ToolContext) -> Run:
        yield await asyncio.to_thread(_read, input, ctx)

    def view(self, input: NotebookReadInput, result: ToolResult | None) -> Sequence[Block]:
        del input
        return (Text(result.summary, "dim"),) if result else ()


def _read(input: NotebookReadInput, ctx: ToolContext) -> ToolResult:
    path = ctx.where.resolve(input.notebook_path)
    try:
        data = fs.reading(fs.settled(path, ctx), ctx)
    except FileNotFoundError:
        raise missing(path, ctx) from None
    book = Notebook(fs.decode(data).text)
    ctx.ledger.note(path, data)
    if input.cell_id:
        book.cells = [book.cells[book.find(input.cell_id)]]
    return notebook_result(book)


def notebook_result(book: Notebook) -> ToolResult:
    """The cells as a result, for Read too."""
    cells = book.parts()
    return ToolResult(
        ok=True,
        parts=tuple(TextContent(c) if isinstance(c, str) else RawImage(c.data) for c in cells),
        summary=counted(len(book.cells), "cell"),
        data={"type": "notebook"},
        cap=100_000,
    )
