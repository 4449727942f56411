"""Read: text with line numbers, within bounds whatever the file is."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, BinaryIO

import msgspec
from msgspec import Meta

from gatewright.tools.access import Access, Effect, Looks, Where
from gatewright.tools.blocks import Block, Text
from gatewright.tools.counted import counted
from gatewright.tools.documents.child_process import shown
from gatewright.tools.documents.picture import image_type
from gatewright.tools.files import fs
from gatewright.tools.files.disk import WHOLE_LIMIT
from gatewright.tools.files.near import missing
from gatewright.tools.files.notebook import Notebook
from gatewright.tools.files.notebook_read import notebook_result
from gatewright.tools.files.textwindow import Window, window
from gatewright.tools.inert import visible
from gatewright.tools.plain import Input, InputTool
from gatewright.tools.protocol import RawImage, Run, ToolContext, ToolFailure, ToolResult

LINES = 2000
CHARS = 100_000
_SNIFF = 64 * 1024
_PDF = b"%PDF-"
_DOCUMENTS = 2  # read at a time: each may take much memory


class ReadInput(Input, frozen=True):
    file_path: Annotated[str, Meta(min_length=1)]
    offset: Annotated[int, Meta(ge=0, description="First line, from 1")] | None = None
    limit: Annotated[int, Meta(ge=1)] | None = None
    pages: Annotated[str, Meta(description="Of a PDF, such as 1-5; at most 20")] | None = None


class Read(InputTool[ReadInput]):
    name = "Read"
    input = ReadInput
    prompt = "read.md"
    looks: Looks = "file"

    def __init__(self) -> None:
        self._few = asyncio.Semaphore(_DOCUMENTS)

    def access(self, input: ReadInput, where: Where) -> Access:
        return Access(reads=(where.resolve(input.file_path),), effects=Effect.READ_ONLY)

    def title(self, input: ReadInput, where: Where) -> tuple[str, str]:
        part = f":{input.offset}" if input.offset else ""
        return "Read", where.shown(where.resolve(input.file_path)) + part

    async def run(self, input: ReadInput, ctx: ToolContext) -> Run:
        path = ctx.where.resolve(input.file_path)
        found = await asyncio.to_thread(_begun, path, input, ctx)
        if isinstance(found, ToolResult):
            yield found
            return
        file, sample = found
        with file:
            if sample.startswith(_PDF):
                async with self._few:
                    yield await _pdf(file, path, input.pages, ctx)
            else:
                yield await asyncio.to_thread(_image, found, path)

    def view(self, input: ReadInput, result: ToolResult | None) -> Sequence[Block]:
        del input
        return (Text(result.summary, "dim"),) if result else ()


def _begun(path: Path, input: ReadInput, ctx: ToolContext) -> ToolResult | tuple[BinaryIO, bytes]:
    """What a text says, in one go; of a document or an image the open file and its beginning."""
    file = _opened(path, ctx)
    try:
        sample = file.read(_SNIFF)
        if sample.startswith(_PDF) or image_type(sample):
            return file, sample
        result = _read((file, sample), path, input, ctx)
    except BaseException:
        file.close()
        raise
    file.close()
    return result


def _read(
    begun: tuple[BinaryIO, bytes], path: Path, input: ReadInput, ctx: ToolContext
) -> ToolResult:
    file, sample = begun
    size = fs.size_of(file)
    total: int | None = None
    encoding, bom = fs.detect(sample, whole=len(sample) == size)
    if not encoding:
        raise ToolFailure(
            f"{path} is a binary file of {size:,} bytes; Read shows text."
            " Use Bash (file, xxd | head) to look into it."
        )
    if size <= WHOLE_LIMIT:
        content = sample + file.read(WHOLE_LIMIT)
        ctx.ledger.note(path, content)
        if ctx.ledger.shown(path, content, f"{input.offset}:{input.limit}"):
            return _unchanged(path)
        if path.suffix == ".ipynb" and input.offset is None:
            return notebook_result(Notebook(fs.decode(content).text))
        total = _lines(content) if encoding in ("utf-8", "latin-1") else None
    file.seek(len(bom))
    first = max(1, input.offset or 1)
    found = window(file, encoding, first, input.limit or LINES, CHARS)
    if found.total is None:
        found = msgspec.structs.replace(found, total=total)
    return _text(path, found, size, "" if encoding == "utf-8" else encoding)


def _opened(path: Path, ctx: ToolContext) -> BinaryIO:
    real = fs.settled(path, ctx)
    try:
        return fs.files_of(ctx).opened(real)
    except FileNotFoundError:
        raise missing(path, ctx) from None
    except ToolFailure:
        if not real.is_dir():
            raise
        advice = "List it with Bash (ls) or search it with Glob."
        raise ToolFailure(f"{path} is a directory. {advice}") from None


def _lines(content: bytes) -> int:
    """The number of lines in an encoding where a line end is one byte."""
    ends = content.count(b"\n")
    if b"\r" in content:
        ends += content.count(b"\r") - content.count(b"\r\n")
    return ends + (not content.endswith((b"\n", b"\r")) and bool(content))


def _image(begun: tuple[BinaryIO, bytes], path: Path) -> ToolResult:
    file, sample = begun
    size = fs.size_of(file)
    if size > WHOLE_LIMIT:
        raise ToolFailure(f"{path} is an image of {size:,} bytes: too large to decode.")
    return ToolResult(
        ok=True,
        parts=(RawImage(sample + file.read(WHOLE_LIMIT), str(path), str(path)),),
        data={"type": "image", "file": {"filePath": str(path), "originalSize": size}},
    )


async def _pdf(file: BinaryIO, path: Path, pages: str | None, ctx: ToolContext) -> ToolResult:
    found = await shown("pdf", file, str(path), ctx.spawn, pages=pages)
    summary = counted(len(found.numbers), "page")
    data = {"type": "pdf", "file": {"filePath": str(path), "pages": list(found.numbers)}}
    return ToolResult(ok=True, content=found.content, data=data, summary=summary, cap=CHARS * 3)


def _unchanged(path: Path) -> ToolResult:
    text = f"[{path} has not changed since you read this part; its content is in an earlier result]"
    return ToolResult.text(text, summary="unchanged", data={"type": "file_unchanged"})


def _text(path: Path, found: Window, size: int, encoding: str) -> ToolResult:
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
    summary = f"lines {found.first}-{last}" if partial and count else counted(count, "line")
    return ToolResult(
        ok=True,
        content=ToolResult.text("\n".join(numbered)).content,
        data={"type": "text", "file": file},
        summary=summary,
        cap=CHARS * 2,
    )


def _note(found: Window, size: int, encoding: str) -> str:
    last = found.first + len(found.lines) - 1
    notes: list[str] = []
    if size == 0:
        notes.append("the file is empty")
    elif not found.lines:
        notes.append(
            f"the file has {counted(found.total or 0, 'line')}; line {found.first} is past its end"
        )
    elif found.total is None or last < found.total:
        of = f" of {found.total}" if found.total is not None else f" ({size:,} bytes in all)"
        notes.append(f"lines {found.first}-{last}{of}; go on with offset={last + 1}")
    if found.cut_lines:
        notes.append(f"{counted(found.cut_lines, 'long line')} cut")
    if encoding:
        notes.append(f"encoding {encoding}")
    return "; ".join(notes)
