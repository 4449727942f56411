"""Grep: search file contents with ripgrep; the same call always gives the same order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta

from gatewright.tools.access import Access, Effect, Looks, Where
from gatewright.tools.blocks import Block, Output
from gatewright.tools.files.preview import preview
from gatewright.tools.plain import Input, InputTool
from gatewright.tools.protocol import Run, ToolContext, ToolResult
from gatewright.tools.search.ground import Ground
from gatewright.tools.search.hits import Rows, Sight, Slice, content, listing
from gatewright.tools.search.query import Mode, Query
from gatewright.tools.search.rg import Bounds, search

SECONDS = 20.0
PAGE = 250
_CONTEXT = 1000
_PARALLEL = 4 * 1024 * 1024  # more than this is searched again in order, up to the lines wanted


_FLAGS = {"ignore_case": "-i", "numbers": "-n", "after": "-A", "before": "-B", "context": "-C"}
_Shown: TypeAlias = Literal["files_with_matches", "content", "count"]
_Count: TypeAlias = Annotated[int, Meta(ge=0)]


class GrepInput(Input, frozen=True, rename=_FLAGS):
    pattern: Annotated[str, Meta(min_length=1, description="Rust regular expression")]
    path: str | None = None
    glob: Annotated[str, Meta(description="*.ts, src/**")] | None = None
    type: Annotated[str, Meta(description="py, js, rust...")] | None = None
    output_mode: Annotated[_Shown, Meta(description="Default: files_with_matches")] = (
        "files_with_matches"
    )
    ignore_case: bool = False
    numbers: Annotated[bool, Meta(description="Default true")] = True
    after: Annotated[int, Meta(ge=0, description="Lines after")] | None = None
    before: _Count | None = None
    context: _Count | None = None
    multiline: bool = False
    head_limit: Annotated[int, Meta(ge=0, description="Default 250")] = PAGE
    offset: Annotated[int, Meta(ge=0, description="Skip")] = 0


class Grep(InputTool[GrepInput]):
    name = "Grep"
    input = GrepInput
    prompt = "grep.md"
    looks: Looks = "pattern"

    def access(self, input: GrepInput, where: Where) -> Access:
        return Access(reads=(_base(input, where),), effects=Effect.READ_ONLY)

    def title(self, input: GrepInput, where: Where) -> tuple[str, str]:
        place = where.shown(_base(input, where))
        return "Search", input.pattern if place == "." else f"{input.pattern} in {place}"

    async def run(self, input: GrepInput, ctx: ToolContext) -> Run:
        with Ground(_base(input, ctx.where), ctx) as ground:
            if input.output_mode == "content":
                rows, cut = await _content(input, ground, ctx)
            else:
                rows, cut = await _listing(input, ground, ctx)
        yield _page(rows, cut, input)

    def view(self, input: GrepInput, result: ToolResult | None) -> Sequence[Block]:
        del input
        if result is None or not result.ok:
            return ()
        text, hidden = preview(str(result.data["content"]))
        return (Output(text, hidden_lines=hidden),)


def _base(input: GrepInput, where: Where) -> Path:
    return where.resolve(input.path) if input.path else where.cwd


async def _content(input: GrepInput, ground: Ground, ctx: ToolContext) -> tuple[Rows, str]:
    query = _query(input)
    found = await search(query, ground, ctx, Bounds(SECONDS, _PARALLEL, whole=True))
    if found.full:
        # Plenty of hits: one thread in path order, stopped once there is enough for this page.
        enough = input.offset + (input.head_limit or 10_000) + 1
        query = msgspec.structs.replace(query, ordered=True)
        found = await search(query, ground, ctx, Bounds(SECONDS, lines=enough))
    cut = "there are more" if found.full else found.cut
    sight = Sight(ground, ctx, numbers=input.numbers)
    return content(found.lines, Slice(input.offset, input.head_limit), sight), cut


async def _listing(input: GrepInput, ground: Ground, ctx: ToolContext) -> tuple[Rows, str]:
    query = _query(input)
    found = await search(query, ground, ctx, Bounds(SECONDS))
    cut = "there are more" if found.full else found.cut
    wanted = Slice(input.offset, input.head_limit)
    return listing(found, wanted, Sight(ground, ctx), counts=query.mode == "counts"), cut


_MODES: Mapping[str, Mode] = {
    "content": "content",
    "count": "counts",
    "files_with_matches": "files",
}


def _query(input: GrepInput) -> Query:
    shown = input.output_mode == "content"
    around = min(input.context or 0, _CONTEXT) if shown else 0
    return Query(
        mode=_MODES[input.output_mode],
        pattern=input.pattern,
        globs=tuple(_globs(input.glob or "")),
        type=input.type or "",
        ignore_case=input.ignore_case,
        multiline=input.multiline,
        before=min(input.before or around, _CONTEXT) if shown else 0,
        after=min(input.after or around, _CONTEXT) if shown else 0,
    )


def _globs(text: str) -> list[str]:
    """The patterns of a list separated by spaces, or by commas outside braces."""
    found, depth = [""], 0
    for char in text:
        depth += (char == "{") - (char == "}")
        if char == " " or (char == "," and depth <= 0):
            found.append("")
        else:
            found[-1] += char
    return [pattern for pattern in found if pattern]


def _page(rows: Rows, cut: str, input: GrepInput) -> ToolResult:
    end = input.offset + len(rows.shown)
    notes = [cut] if cut else []
    if end < rows.total:
        of = "" if cut else f" of {rows.total}"
        notes = [f"{input.offset + 1}-{end}{of} shown; go on with offset={end}", *notes]
    text = "\n".join(rows.shown)
    if not rows.shown:
        text = "No more matches." if rows.total else "No matches."
        notes = [cut] if cut else []
    if notes:
        text += f"\n[{'; '.join(notes)}]"
    noun = "line" if input.output_mode == "content" else "file"
    count = f"{rows.total}{'+' if cut else ''} {noun}{'' if rows.total == 1 else 's'}"
    shown = "\n".join(rows.shown)
    data = {"mode": input.output_mode, "content": shown, "numLines": len(rows.shown)}
    return ToolResult.text(text, summary=count, data=data)
