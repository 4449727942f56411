"""NotebookEdit: replace, insert or delete one cell of a notebook the model has read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from gatewright.tools.access import Access, Effect, Where
from gatewright.tools.blocks import Block, Diff
from gatewright.tools.files import fs
from gatewright.tools.files.change import change, changeable
from gatewright.tools.files.diff import diff
from gatewright.tools.files.notebook import Notebook, source
from gatewright.tools.finish import finish
from gatewright.tools.plain import Input, InputTool
from gatewright.tools.protocol import Run, ToolContext, ToolFailure, ToolResult


class NotebookEditInput(Input, frozen=True):
    notebook_path: Annotated[str, Meta(min_length=1)]
    cell_id: Annotated[str, Meta(description="To insert, the one before")] | None = None
    new_source: str = ""
    cell_type: Annotated[Literal["code", "markdown"], Meta(description="To insert")] | None = None
    edit_mode: Literal["replace", "insert", "delete"] = "replace"


class NotebookEdit(InputTool[NotebookEditInput]):
    name = "NotebookEdit"
    input = NotebookEditInput
    prompt = "notebook_edit.md"

    def access(self, input: NotebookEditInput, where: Where) -> Access:
        return Access(writes=(where.resolve(input.notebook_path),), effects=Effect.DESTRUCTIVE)

    def title(self, input: NotebookEditInput, where: Where) -> tuple[str, str]:
        cell = f":{input.cell_id}" if input.cell_id else ""
        return "Edit", where.shown(where.resolve(input.notebook_path)) + cell

    async def run(self, input: NotebookEditInput, ctx: ToolContext) -> Run:
        yield await finish(_edit, input, ctx)

    def foresee(self, input: NotebookEditInput, ctx: ToolContext) -> Sequence[Block]:
        return (_plan(input, ctx).shown,)


class _Plan(msgspec.Struct, frozen=True):
    old: bytes
    new: bytes
    shown: Diff
    after: str  # the cell's source
    said: str


def _plan(input: NotebookEditInput, ctx: ToolContext) -> _Plan:
    """What the call would do; ToolFailure where it cannot be done."""
    path = ctx.where.resolve(input.notebook_path)
    if path.suffix.lower() != ".ipynb":  # said first: reading it would not help
        raise ToolFailure(f"{path.name} is no notebook (.ipynb). Change it with Edit.")
    old = changeable(path, ctx)
    file = fs.decode(old)
    book = Notebook(file.text)
    before, after, said = _apply(book, input)
    cell = f":{input.cell_id}" if input.cell_id and input.edit_mode != "insert" else ""
    shown = diff(ctx.where.shown(path) + cell, before, after)  # its numbers are the cell's
    return _Plan(old, file.encode(book.dump()), shown, after, said)


def _edit(input: NotebookEditInput, ctx: ToolContext) -> ToolResult:
    path = ctx.where.resolve(input.notebook_path)
    made = _plan(input, ctx)
    if made.new == made.old:
        return ToolResult.text(
            f"Unchanged: cell {input.cell_id} of {path} already holds exactly this.",
            summary="unchanged",
        )
    change(path, made.old, made.new, ctx)
    return ToolResult.text(
        f"{made.said} in {path}.",
        view=(made.shown,),
        data={
            "notebook_path": str(path),
            "edit_mode": input.edit_mode,
            "new_source": made.after,
        },
        summary=f"+{made.shown.added} -{made.shown.removed}",
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
