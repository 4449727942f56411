"""Edit: replace a piece of a file the model has read; every byte outside the piece stays."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from gatewright.tools.access import Access, Effect, Where
from gatewright.tools.blocks import Block, Diff
from gatewright.tools.counted import counted
from gatewright.tools.files import fs, match
from gatewright.tools.files.change import change, changeable
from gatewright.tools.files.diff import diff
from gatewright.tools.files.write import patch
from gatewright.tools.finish import finish
from gatewright.tools.plain import Input, InputTool
from gatewright.tools.protocol import Run, ToolContext, ToolFailure, ToolResult


class EditInput(Input, frozen=True):
    file_path: Annotated[str, Meta(min_length=1)]
    old_string: Annotated[str, Meta(min_length=1)]
    new_string: str
    replace_all: bool = False


class Edit(InputTool[EditInput]):
    name = "Edit"
    input = EditInput
    prompt = "edit.md"

    def access(self, input: EditInput, where: Where) -> Access:
        return Access(writes=(where.resolve(input.file_path),), effects=Effect.DESTRUCTIVE)

    def title(self, input: EditInput, where: Where) -> tuple[str, str]:
        return "Edit", where.shown(where.resolve(input.file_path))

    async def run(self, input: EditInput, ctx: ToolContext) -> Run:
        yield await finish(edit, ctx.where.resolve(input.file_path), [input], ctx)

    def foresee(self, input: EditInput, ctx: ToolContext) -> Sequence[Block]:
        return (plan(ctx.where.resolve(input.file_path), [input], ctx).shown,)


class Replacement(Input, frozen=True):
    old_string: Annotated[str, Meta(min_length=1)]
    new_string: str
    replace_all: bool = False


class Plan(msgspec.Struct, frozen=True):
    """Edits that fit the file as it is: its bytes before and after, and what people see."""

    old: bytes
    new: bytes
    shown: Diff
    steps: Sequence[str]
    places: int


def plan(path: Path, edits: Sequence[EditInput | Replacement], ctx: ToolContext) -> Plan:
    """What the edits would do; ToolFailure where they cannot be made."""
    old = changeable(path, ctx)
    file = fs.decode(old)
    text, steps, places = applied(file.text, edits)
    shown = diff(ctx.where.shown(path), file.text, text)
    return Plan(old, file.encode(text), shown, steps, places)


def edit(path: Path, edits: Sequence[EditInput | Replacement], ctx: ToolContext) -> ToolResult:
    """Apply the edits in order, all or none, in one synchronous section."""
    made = plan(path, edits, ctx)
    shown = made.shown
    change(path, made.old, made.new, ctx)
    said = f"Changed {path}: +{shown.added} -{shown.removed}"
    said += f", {counted(made.places, 'place')}." if made.places > len(edits) else "."
    said += "".join(f" Matched {step}." for step in dict.fromkeys(made.steps))
    return ToolResult.text(
        said,
        view=(shown,),
        data={
            "filePath": str(path),
            "edits": [{"oldString": e.old_string, "newString": e.new_string} for e in edits],
            **patch(shown),
        },
        summary=f"+{shown.added} -{shown.removed}",
    )


def applied(text: str, edits: Sequence[EditInput | Replacement]) -> tuple[str, list[str], int]:
    """The text after all edits, the looser steps that matched, and the number of places."""
    steps: list[str] = []
    count = 0
    for number, one in enumerate(edits, 1):
        try:
            text, step, places = _apply(text, one)
        except ToolFailure as failure:
            which = f"Edit {number} of {len(edits)} (nothing was changed): " if edits[1:] else ""
            raise ToolFailure(f"{which}{failure}") from None
        steps += [step] if step else []
        count += places
    return text, steps, count


def _apply(text: str, one: EditInput | Replacement) -> tuple[str, str, int]:
    if one.old_string == one.new_string:
        raise ToolFailure("old_string and new_string are the same: nothing to change.")
    found = match.find(text, one.old_string, one.new_string, every=one.replace_all)
    return match.apply(text, found.spans), found.step, len(found.spans)
