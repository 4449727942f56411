"""NotebookRead: the cells of a notebook with their outputs, all or one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

from pydantic import BaseModel, Field

from gatewright.tools.access import Access, Effect, Where
from gatewright.tools.blocks import Block, Text
from gatewright.tools.counted import counted
from gatewright.tools.files import fs
from gatewright.tools.files.near import missing
from gatewright.tools.files.notebook import Notebook
from gatewright.tools.files.notebook_pictures import content
from gatewright.tools.protocol import Progress, Spawn, ToolContext, ToolResult


class NotebookReadInput(BaseModel):
    notebook_path: str = Field(min_length=1)
    cell_id: str | None = Field(default=None, description="Only this cell")


class NotebookRead:
    name = "NotebookRead"
    input = NotebookReadInput
    prompt = "notebook_read.md"

    def __init__(self) -> None:
        self._one = asyncio.Lock()  # its pictures may take much memory

    def access(self, input: NotebookReadInput, where: Where) -> Access:
        return Access(reads=(where.resolve(input.notebook_path),), effects=Effect.READ_ONLY)

    def title(self, input: NotebookReadInput, where: Where) -> tuple[str, str]:
        return "Read", where.shown(where.resolve(input.notebook_path))

    async def run(
        self, input: NotebookReadInput, ctx: ToolContext
    ) -> AsyncIterator[Progress | ToolResult]:
        book = await asyncio.to_thread(_read, input, ctx)
        async with self._one:
            yield await notebook_result(book, ctx.spawn)

    def view(self, input: NotebookReadInput, result: ToolResult | None) -> Sequence[Block]:
        del input
        return (Text(result.summary, "dim"),) if result else ()


def _read(input: NotebookReadInput, ctx: ToolContext) -> Notebook:
    path = ctx.where.resolve(input.notebook_path)
    try:
        data = fs.reading(fs.settled(path, ctx))
    except FileNotFoundError:
        raise missing(path, ctx) from None
    book = Notebook(fs.decode(data).text)
    ctx.ledger.note(path, data)
    if input.cell_id:
        book.cells = [book.cells[book.find(input.cell_id)]]
    return book


async def notebook_result(book: Notebook, spawn: Spawn) -> ToolResult:
    """The cells as a result, for Read too."""
    return ToolResult(
        ok=True,
        content=await content(book, spawn),
        summary=counted(len(book.cells), "cell"),
        data={"type": "notebook"},
        cap=100_000,
    )
