"""Glob: files by name pattern, newest first, found as ripgrep walks the tree."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from gatewright.tools.access import Access, Effect, Looks, Where
from gatewright.tools.blocks import Block, Text
from gatewright.tools.counted import counted
from gatewright.tools.plain import Input, InputTool
from gatewright.tools.protocol import Run, ToolContext, ToolFailure, ToolResult
from gatewright.tools.search.ground import Ground
from gatewright.tools.search.hits import Sight, newest_first
from gatewright.tools.search.query import Found, Query
from gatewright.tools.search.rg import Bounds, search

LIMIT = 100
SECONDS = 20.0
_MAGIC = frozenset("*?[{")


class GlobInput(Input, frozen=True):
    pattern: Annotated[str, Meta(min_length=1, description="**/*.py, src/**/test_*.ts")]
    path: Annotated[str, Meta(description="Directory")] | None = None


class Glob(InputTool[GlobInput]):
    name = "Glob"
    input = GlobInput
    prompt = "glob.md"
    looks: Looks = "pattern"

    def access(self, input: GlobInput, where: Where) -> Access:
        base, _ = _split(input, where)
        return Access(reads=(base,), effects=Effect.READ_ONLY)

    def title(self, input: GlobInput, where: Where) -> tuple[str, str]:
        base, pattern = _split(input, where)
        place = where.shown(base)
        return "Find", pattern if place == "." else f"{pattern} in {place}"

    async def run(self, input: GlobInput, ctx: ToolContext) -> Run:
        base, pattern = _split(input, ctx.where)
        with Ground(base, ctx) as ground:
            if ground.file is not None:
                raise ToolFailure(f"{base} is not a directory.")
            found = await _files(ctx, ground, pattern)
            newest = await asyncio.to_thread(_newest, found, Sight(ground, ctx))
        yield _result(newest, len(found.lines), found.cut)

    def view(self, input: GlobInput, result: ToolResult | None) -> Sequence[Block]:
        del input
        if result is None:
            return ()
        return (Text("\n".join(result.data.get("filenames", ())), "dim"),)


def _split(input: GlobInput, where: Where) -> tuple[Path, str]:
    """The directory to walk and the pattern below it; absolute and `..` parts belong to it."""
    base = where.resolve(input.path) if input.path else where.cwd
    pattern = input.pattern.removeprefix("./")
    if not (pattern.startswith(("/", "~/")) or ".." in pattern.split("/")):
        return base, pattern
    parts = pattern.split("/")
    literal = next((i for i, part in enumerate(parts) if _MAGIC & set(part)), len(parts) - 1)
    lead = "/".join(parts[:literal]) or "/"
    inner = Where(base, where.root, where.home)
    return inner.resolve(lead), "/" + "/".join(parts[literal:])


async def _files(ctx: ToolContext, ground: Ground, pattern: str) -> Found:
    pattern = "\\" + pattern if pattern.startswith("!") else pattern
    query = Query(mode="names", globs=(pattern,))
    return await search(query, ground, ctx, Bounds(SECONDS, 64 * 1024 * 1024))


def _newest(found: Found, sight: Sight) -> list[str]:
    """The newest readable files, at most LIMIT."""
    labels = (sight.label(name) for name in newest_first(found.times))
    return list(itertools.islice((label for label in labels if label), LIMIT))


def _result(names: Sequence[str], total: int, cut: str) -> ToolResult:
    notes = [f"the newest {len(names)} of {total}"] if total > LIMIT else []
    notes += [cut] if cut else []
    text = "\n".join(names) or "No file matches."
    if notes:
        text += f"\n[{'; '.join(notes)}]"
    data = {"filenames": list(names), "numFiles": len(names), "truncated": bool(notes)}
    files = counted(len(names), "file")
    return ToolResult.text(text, summary=files, data=data)
