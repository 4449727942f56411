"""Write: create a file or replace all of it; never over content the model has not seen."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from gatewright.tools.access import Access, Effect, Where
from gatewright.tools.blocks import Block, Code, Diff
from gatewright.tools.counted import counted
from gatewright.tools.files import fs
from gatewright.tools.files.change import change
from gatewright.tools.files.diff import diff
from gatewright.tools.finish import finish
from gatewright.tools.plain import Input, InputTool
from gatewright.tools.protocol import Run, ToolContext, ToolFailure, ToolResult


class WriteInput(Input, frozen=True):
    file_path: Annotated[str, Meta(min_length=1)]
    content: str


class Write(InputTool[WriteInput]):
    name = "Write"
    input = WriteInput
    prompt = "write.md"

    def access(self, input: WriteInput, where: Where) -> Access:
        return Access(writes=(where.resolve(input.file_path),), effects=Effect.DESTRUCTIVE)

    def title(self, input: WriteInput, where: Where) -> tuple[str, str]:
        return "Write", where.shown(where.resolve(input.file_path))

    async def run(self, input: WriteInput, ctx: ToolContext) -> Run:
        yield await finish(_write, ctx.where.resolve(input.file_path), input.content, ctx)

    def foresee(self, input: WriteInput, ctx: ToolContext) -> Sequence[Block]:
        path = ctx.where.resolve(input.file_path)
        old, _, before = _planned(path, input.content, ctx)
        shown = ctx.where.shown(path)
        if old is None:
            return (Code(input.content, path=shown),)
        return (diff(shown, before, input.content),)


def _planned(path: Path, content: str, ctx: ToolContext) -> tuple[bytes | None, bytes, str]:
    """The bytes there now and after, and the text there now; ToolFailure where it cannot be."""
    real = fs.settled(path, ctx)
    old = _current(real, ctx)
    if old is None:
        return None, fs.FileText("", "utf-8").encode(content), ""
    if old and (reason := ctx.ledger.stale(path, old)):
        raise ToolFailure(reason)
    fs.files_of(ctx).writable(real)
    return old, *_in_encoding_of(old, content)


def _write(path: Path, content: str, ctx: ToolContext) -> ToolResult:
    old, data, before = _planned(path, content, ctx)
    if data == old:
        return ToolResult.text(
            f"Unchanged: {path} already holds exactly this.",
            summary="unchanged",
            data={"type": "update", "filePath": str(path), "structuredPatch": []},
        )
    change(path, old, data, ctx)
    shown = diff(ctx.where.shown(path), before, content)
    kind = "create" if old is None else "update"
    verb = "Created" if old is None else "Wrote"
    lines = content.count("\n") + (not content.endswith("\n") and bool(content))
    return ToolResult.text(
        f"{verb} {path} ({counted(lines, 'line')}).",
        view=(shown,),
        data={"type": kind, "filePath": str(path), **patch(shown)},
        summary=counted(lines, "line") if old is None else f"+{shown.added} -{shown.removed}",
    )


def _current(real: Path, ctx: ToolContext) -> bytes | None:
    try:
        return fs.reading(real, ctx)
    except FileNotFoundError:
        return None


def _in_encoding_of(old: bytes, content: str) -> tuple[bytes, str]:
    """The content as bytes in the encoding the file has, and the text the file had."""
    try:
        known = fs.decode(old)
    except ToolFailure:
        return fs.FileText("", "utf-8").encode(content), ""
    if known.bom:
        content = content.removeprefix("\ufeff")
    return known.encode(content), known.text


def patch(shown: Diff) -> dict[str, object]:
    """The hunks in the form hooks and JSON output read."""
    return {
        "structuredPatch": [
            {"oldStart": h.old_start, "newStart": h.new_start, "lines": list(h.lines)}
            for h in shown.hunks
        ]
    }
