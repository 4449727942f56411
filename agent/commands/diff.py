"""/diff: what changed, file by file: since the last commit, in this session, in its last turns."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

import msgspec

from gatewright.agent.commands.outcome import Outcome, Panel, Say
from gatewright.agent.commands.registry import Command, CommandContext
from gatewright.tools.blocks import Block, Table, Text

SHOWN = 100
NOTHING = "Nothing has changed: no uncommitted change, and none that this session made."
HINT = "/diff FILE shows what changed in it."
Sides: TypeAlias = tuple[bytes | None, bytes | None]  # before and after; None: no such file


class Entry(msgspec.Struct, frozen=True):
    """A changed file; lines are -1 where they are not counted: binary, or too large."""

    path: str
    kind: str
    added: int
    removed: int
    load: Callable[[], Sides]  # raises OSError

    @property
    def counts(self) -> str:
        return f"+{self.added} -{self.removed}" if self.added >= 0 else "binary or large"


class Changes(msgspec.Struct, frozen=True):
    """`name` is what people call it; `files` the first of `total`."""

    name: str
    about: str
    files: tuple[Entry, ...]
    total: int

    @property
    def sum(self) -> str:
        added = sum(file.added for file in self.files if file.added > 0)
        removed = sum(file.removed for file in self.files if file.removed > 0)
        files = f"{self.total} file{'' if self.total == 1 else 's'}"
        return f"{files} {self.about}, +{added} -{removed}"


class Diffs(Panel, frozen=True, kw_only=True):
    """A list for each view of what changed; `show` draws one file."""

    views: tuple[Changes, ...]
    show: Callable[[Entry], Awaitable[Sequence[Block]]]


def commands() -> tuple[Command, ...]:
    return (
        Command(
            name="diff",
            summary="What changed: uncommitted, in this session, by turn",
            args="[FILE]",
            run=diff,
        ),
    )


async def diff(args: str, context: CommandContext) -> Outcome:
    review = context.past.review if context.past is not None else None
    views = await review.changes() if review is not None else []
    if review is None or not views:
        return Say.text(NOTHING)
    if args:
        entry = _named(args, views)
        if entry is None:
            return Say.text(f"Nothing has changed in {args}. /diff lists what has.", "warning")
        return Say(tuple(await review.drawn(entry)))
    blocks: list[Block] = []
    for view in views[:2]:
        blocks += [Text(f"{view.sum}:"), _table(view)]
    return Diffs(
        "diff",
        fallback=Say((*blocks, Text(HINT, "dim"))),
        views=tuple(views),
        show=review.drawn,
    )


def _named(name: str, views: Sequence[Changes]) -> Entry | None:
    wanted = name.removeprefix("./")
    return next((file for view in views for file in view.files if file.path == wanted), None)


def _table(view: Changes) -> Table:
    rows = [(file.path, file.counts, file.kind) for file in view.files[:SHOWN]]
    if view.total > len(rows):
        rows.append((f"and {view.total - len(rows)} more", "", ""))
    return Table(("File", "Lines", ""), tuple(rows))
