"""Grep: search file contents with ripgrep; the same call always gives the same order."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from gatewright.tools import rg
from gatewright.tools.access import Access, Effect, Where
from gatewright.tools.blocks import Block, Text
from gatewright.tools.hits import content, listing
from gatewright.tools.near import missing
from gatewright.tools.protocol import Progress, ToolContext, ToolFailure, ToolResult

SECONDS = 20.0
LIMIT = 250
_PARALLEL = 4 * 1024 * 1024  # more than this is searched again in order, up to the lines wanted
_COLUMNS = 500


class GrepInput(BaseModel):
    model_config = ConfigDict(populate_by_name=True)

    pattern: str = Field(min_length=1, description="Regular expression (Rust syntax)")
    path: str | None = Field(default=None, description="File or directory; default: current")
    glob: str | None = Field(default=None, description='Only files such as "*.ts" or "src/**"')
    type: str | None = Field(default=None, description="Only files of a type: py, js, rust, go ...")
    output_mode: Literal["files_with_matches", "content", "count"] = Field(
        default="files_with_matches", description="Default: files_with_matches"
    )
    ignore_case: bool = Field(default=False, alias="-i")
    numbers: bool = Field(default=True, alias="-n", description="Line numbers; default true")
    after: int | None = Field(default=None, alias="-A", ge=0, description="Lines after a match")
    before: int | None = Field(default=None, alias="-B", ge=0)
    context: int | None = Field(default=None, alias="-C", ge=0)
    multiline: bool = Field(default=False, description="`.` matches newlines, matches span lines")
    head_limit: int = Field(default=LIMIT, ge=0, description="Lines or files shown; default 250")
    offset: int = Field(default=0, ge=0, description="Skip this many first")


class Grep:
    name = "Grep"
    input = GrepInput
    prompt = "grep.md"

    def access(self, input: GrepInput, where: Where) -> Access:
        return Access(reads=(_base(input, where),), effects=Effect.READ_ONLY)

    def title(self, input: GrepInput, where: Where) -> tuple[str, str]:
        base = _base(input, where)
        place = "" if base == where.cwd else f" in {where.shown(base)}"
        return "Search", input.pattern + place

    async def run(self, input: GrepInput, ctx: ToolContext) -> AsyncIterator[Progress | ToolResult]:
        base = _base(input, ctx.where)
        if not base.exists():
            raise ToolFailure(missing(base, ctx.where.cwd))
        if input.output_mode == "content":
            rows, cut = await _content(input, base, ctx)
        else:
            rows, cut = await _listing(input, base, ctx)
        yield _page(rows, cut, input)

    def view(self, input: GrepInput, result: ToolResult | None) -> Sequence[Block]:
        del input
        return (Text(str(result.data["content"]), "dim"),) if result and result.ok else ()


def _base(input: GrepInput, where: Where) -> Path:
    return where.resolve(input.path) if input.path else where.cwd


async def _content(input: GrepInput, base: Path, ctx: ToolContext) -> tuple[list[str], str]:
    argv = ["-n"]
    for flag, count in (("-A", input.after), ("-B", input.before), ("-C", input.context)):
        argv += [flag, str(min(count, 1000))] if count else []
    found = await _search(input, base, ctx, argv, limit=_PARALLEL)
    if found.full:
        # Plenty of hits: one thread in path order, stopped once there is enough for this page.
        wanted = input.offset + (input.head_limit or 10_000) + 1
        found = await _search(input, base, ctx, ["--sort=path", *argv], lines=wanted)
    cut = found.cut
    if found.full:
        cut = "there are more"
    return content(found.output, _root(base), ctx, numbers=input.numbers), cut


async def _listing(input: GrepInput, base: Path, ctx: ToolContext) -> tuple[list[str], str]:
    counting = input.output_mode == "count"
    found = await _search(input, base, ctx, ["-c" if counting else "-l"])
    cut = "there are more" if found.full else found.cut
    return listing(found.output, _root(base), ctx, counts=counting), cut


def _root(base: Path) -> Path:
    return base if base.is_dir() else base.parent


async def _search(
    input: GrepInput,
    base: Path,
    ctx: ToolContext,
    mode: Sequence[str],
    *,
    limit: int = rg.LIMIT,
    lines: int = 0,
) -> rg.Found:
    program = rg.locate(ctx.where.root, ctx.env.get("PATH"))
    if not program:
        raise ToolFailure(
            "ripgrep was not found. Install it (package ripgrep), version 14 or newer."
        )
    argv = (program, *rg.COMMON, *mode, *_options(input), "-e", input.pattern, "--")
    argv += (".",) if (root := _root(base)) == base else (f"./{base.name}",)
    found = await rg.run(ctx, argv, root, seconds=SECONDS, limit=limit, lines=lines)
    if found.failed:
        raise ToolFailure(f"The search was not run. {found.failed}")
    return found


def _options(input: GrepInput) -> list[str]:
    options = ["--no-heading", "-H", "--color=never"]
    options += [f"--max-columns={_COLUMNS}", "--max-columns-preview"]
    options += ["-i"] if input.ignore_case else []
    options += ["-U", "--multiline-dotall"] if input.multiline else []
    options += [f"--type={input.type}"] if input.type else []
    options += [f"--glob={pattern}" for pattern in _globs(input.glob or "")]
    return [*options, *rg.NOT_VCS]


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


def _page(rows: Sequence[str], cut: str, input: GrepInput) -> ToolResult:
    end = input.offset + input.head_limit if input.head_limit else len(rows)
    shown = rows[input.offset : end]
    notes = [cut] if cut else []
    if end < len(rows):
        of = "" if cut else f" of {len(rows)}"
        notes = [f"{input.offset + 1}-{end}{of} shown; go on with offset={end}", *notes]
    text = "\n".join(shown)
    if not shown:
        text = "No matches." if not rows else "No more matches."
    if notes:
        text += f"\n[{'; '.join(notes)}]"
    noun = {"content": "line", "count": "file", "files_with_matches": "file"}[input.output_mode]
    count = f"{len(rows)}{'+' if cut else ''} {noun}{'' if len(rows) == 1 else 's'}"
    data = {"mode": input.output_mode, "content": "\n".join(shown), "numLines": len(shown)}
    return ToolResult.text(text, summary=count, data=data)
