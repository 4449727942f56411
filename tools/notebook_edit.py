"""NotebookEdit: replace, insert or delete one cell of a notebook the model has read."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Literal

from pydantic import BaseModel, Field

from gatewright.tools import fs
from gatewright.tools.access import Access, Effect, Where
from gatewright.tools.blocks import Block, Code
from gatewright.tools.change import change
from gatewright.tools.diff import diff
from gatewright.tools.finish import finish
from gatewright.tools.foresee import foresee
from gatewright.tools.near import missing
from gatewright.tools.notebook import Notebook, source
from gatewright.tools.protocol import Progress, ToolContext, ToolFailure, ToolResult


class NotebookEditInput(BaseModel):
    notebook_path: str = Field(min_length=1)
    cell_id: str | None = Field(
        default=None, description="Id as Read shows it; with insert: the cell to come after"
    )
    new_source: str = Field(default="", description="The whole new source of the cell")
    cell_type: Literal["code", "markdown"] | None = Field(
        default=None, description="Needed for insert"
    )
    edit_mode: Literal["replace", "insert", "delete"] = "replace"


class NotebookEdit:
    name = "NotebookEdit"
    input = NotebookEditInput
    prompt = "notebook_edit.md"

    def access(self, input: NotebookEditInput, where: Where) -> Access:
        return Access(writes=(where.resolve(input.notebook_path),), effects=Effect.DESTRUCTIVE)

    def title(self, input: NotebookEditInput, where: Where) -> tuple[str, str]:
        cell = f":{input.cell_id}" if input.cell_id else ""
        return "Edit", where.shown(where.resolve(input.notebook_path)) + cell

    async def run(
        self, input: NotebookEditInput, ctx: ToolContext
    ) -> AsyncIterator[Progress | ToolResult]:
        yield await finish(_edit, input, ctx)

    def view(self, input: NotebookEditInput, result: ToolResult | None) -> Sequence[Block]:
        if result is not None:
            return ()
        return (Code(input.new_source, path=input.notebook_path),)

    def foresee(self, input: NotebookEditInput, where: Where) -> Sequence[Block]:
        path = where.resolve(input.notebook_path)
        return foresee(path, where, lambda text: _apply(Notebook(text), input)[:2])


def _edit(input: NotebookEditInput, ctx: ToolContext) -> ToolResult:
    path = ctx.where.resolve(input.notebook_path)
    try:
        old = fs.reading(path)
    except FileNotFoundError:
        raise ToolFailure(missing(path, ctx.where.cwd)) from None
    if reason := ctx.ledger.stale(path, old):
        raise ToolFailure(reason)
    file = fs.decode(old)
    book = Notebook(file.text)
    before, after, said = _apply(book, input)
    change(path, old, file.encode(book.dump()), ctx)
    shown = diff(ctx.where.shown(path), before, after)
    return ToolResult(
        ok=True,
        content=ToolResult.text(f"{said} in {path}.").content,
        view=(shown,),
        data={"notebook_path": str(path), "edit_mode": input.edit_mode, "new_source": after},
        summary=f"+{shown.added} -{shown.removed}",
    )


def _apply(book: Notebook, input: NotebookEditInput) -> tuple[str, str, str]:
    """Change the notebook; the cell's source before and after, and what was done."""
    if input.edit_mode == "insert":
        if input.cell_type is None:
            raise ToolFailure("cell_type is needed to insert a cell: code or markdown.")
        at = book.find(input.cell_id) + 1 if input.cell_id else 0
        name = book.insert(at, input.new_source, input.cell_type)
        return "", input.new_source, f"Inserted cell {name}"
    if not input.cell_id:
        raise ToolFailure(f"cell_id is needed to {input.edit_mode} a cell.")
    index = book.find(input.cell_id)
    before = source(book.cells[index])
    if input.edit_mode == "delete":
        del book.cells[index]
        return before, "", f"Deleted cell {input.cell_id}"
    book.replace(index, input.new_source, input.cell_type)
    return before, input.new_source, f"Replaced cell {input.cell_id}"
