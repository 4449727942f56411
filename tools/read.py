"""Read: text with line numbers, within bounds whatever the file is."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from pydantic import BaseModel, Field

from gatewright.tools import fs
from gatewright.tools.access import Access, Effect, Where
from gatewright.tools.blocks import Block, Text
from gatewright.tools.inert import visible
from gatewright.tools.near import missing
from gatewright.tools.protocol import Progress, ToolContext, ToolFailure, ToolResult
from gatewright.tools.textwindow import Window, window

LINES = 2000
CHARS = 100_000
_SNIFF = 64 * 1024


class ReadInput(BaseModel):
    file_path: str = Field(
        min_length=1, description="Absolute, or relative to the current directory"
    )
    offset: int | None = Field(default=None, ge=0, description="First line, from 1")
    limit: int | None = Field(default=None, ge=1, description="Number of lines")
    pages: str | None = Field(default=None, description='PDF pages, such as "1-5"; at most 20')


class Read:
    name = "Read"
    input = ReadInput
    prompt = "read.md"

    def access(self, input: ReadInput, where: Where) -> Access:
        return Access(reads=(where.resolve(input.file_path),), effects=Effect.READ_ONLY)

    def title(self, input: ReadInput, where: Where) -> tuple[str, str]:
        part = f":{input.offset}" if input.offset else ""
        return "Read", where.shown(where.resolve(input.file_path)) + part

    async def run(self, input: ReadInput, ctx: ToolContext) -> AsyncIterator[Progress | ToolResult]:
        path = ctx.where.resolve(input.file_path)
        yield await asyncio.to_thread(_read, path, input, ctx)

    def view(self, input: ReadInput, result: ToolResult | None) -> Sequence[Block]:
        del input
        return (Text(result.summary, "dim"),) if result else ()


def _read(path: Path, input: ReadInput, ctx: ToolContext) -> ToolResult:
    if path.is_dir():
        raise ToolFailure(f"{path} is a directory. List it with Bash (ls) or search it with Glob.")
    try:
        file = fs.opened(path)
    except FileNotFoundError:
        raise ToolFailure(missing(path, ctx.where.cwd)) from None
    with file:
        size = os.fstat(file.fileno()).st_size
        sample = file.read(_SNIFF)
        encoding, bom = fs.detect(sample)
        if not encoding:
            raise ToolFailure(
                f"{path} is a binary file of {size:,} bytes; Read shows text."
                " Use Bash (file, xxd | head) to look into it."
            )
        if size <= fs.WHOLE_LIMIT:
            content = sample + file.read(fs.WHOLE_LIMIT)
            ctx.ledger.note(path, content)
            if ctx.ledger.shown(path, content, f"{input.offset}:{input.limit}"):
                return _unchanged(path)
        file.seek(len(bom))
        first = max(1, input.offset or 1)
        found = window(file, encoding, first, input.limit or LINES, CHARS)
    return _result(path, found, size, "" if encoding == "utf-8" else encoding)


def _unchanged(path: Path) -> ToolResult:
    text = f"[{path} has not changed since you read this part; its content is in an earlier result]"
    return ToolResult.text(text, summary="unchanged", data={"type": "file_unchanged"})


def _result(path: Path, found: Window, size: int, encoding: str) -> ToolResult:
    count = len(found.lines)
    numbered = [f"{found.first + i:6}\t{visible(line)}" for i, line in enumerate(found.lines)]
    if note := _note(found, size, encoding):
        numbered.append(f"\n[{note}]" if numbered else f"[{note}]")
    last = found.first + count - 1
    file = {
        "filePath": str(path),
        "startLine": found.first,
        "numLines": count,
        "totalLines": found.total if found.total is not None else last,
    }
    partial = found.first > 1 or found.total is None or last < found.total
    summary = f"lines {found.first}-{last}" if partial and count else f"{count} lines"
    return ToolResult(
        ok=True,
        content=ToolResult.text("\n".join(numbered)).content,
        data={"type": "text", "file": file},
        summary="1 line" if count == 1 and not partial else summary,
        cap=CHARS * 2,
    )


def _note(found: Window, size: int, encoding: str) -> str:
    last = found.first + len(found.lines) - 1
    notes: list[str] = []
    if size == 0:
        notes.append("the file is empty")
    elif not found.lines:
        notes.append(f"the file has {found.total} lines; line {found.first} is past its end")
    elif found.total is None or last < found.total:
        of = f" of {found.total}" if found.total is not None else f" ({size:,} bytes in all)"
        notes.append(f"lines {found.first}-{last}{of}; go on with offset={last + 1}")
    if found.cut_lines:
        notes.append(f"{found.cut_lines} long lines cut")
    if encoding:
        notes.append(f"encoding {encoding}")
    return "; ".join(notes)
