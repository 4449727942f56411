"""/diff: what changed, file by file: since the last commit, in this session, in its last turns."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from gatewright.agent.commands.outcome import Choice, Listing, Outcome, Page, Problem, Say
from gatewright.agent.commands.registry import Command, CommandContext
from gatewright.tools.blocks import Block, Table, Text

if TYPE_CHECKING:
    from gatewright.agent.session.review import Review  # it makes what is here

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


def diff_commands(review: Review) -> tuple[Command, ...]:
    return (
        Command(
            name="diff",
            summary="What changed: uncommitted, in this session, by turn",
            args="[FILE]",
            run=partial(diff, review),
        ),
    )


async def diff(review: Review, context: CommandContext) -> Outcome:
    views, args = await review.changes(), context.args
    if not views:
        return Page.text("Changed", f"{NOTHING} {review.unknown()}".rstrip())
    if args:
        entry = _named(args, views)
        if entry is None:
            return Problem.of(f"Nothing has changed in {args}. /diff lists what has.")
        return Say(tuple(await review.drawn(entry)))
    blocks: list[Block] = []
    for view in views[:2]:
        blocks += [Text(f"{view.sum}:"), _table(view)]
    return listing(views, review.drawn, Say((*blocks, Text(HINT, "dim"))))


def listing(
    views: Sequence[Changes],
    drawn: Callable[[Entry], Awaitable[Sequence[Block]]],
    fallback: Say,
) -> Listing:
    """A list for each view of what changed."""
    files = {f"{view.name} {file.path}": (view, file) for view in views for file in view.files}
    wide = max((len(file.counts) for _view, file in files.values()), default=0)

    async def read(id: str) -> Sequence[Block]:
        view, file = files[id]
        return (Text(f"{file.path}  {file.counts}  {view.about}"), *await drawn(file))

    rows = [_choice(id, view, file, wide) for id, (view, file) in files.items()]
    tabs = tuple(view.name for view in views)
    return Listing(fallback=fallback, title="Changed", rows=lambda: rows, read=read, tabs=tabs)


def _choice(id: str, view: Changes, file: Entry, wide: int) -> Choice:
    kind = "" if file.kind == "changed" else file.kind
    detail = f"{file.counts.rjust(wide)}  {kind}".rstrip()
    return Choice(id, file.path, detail, view.name, f"/diff {file.path}")


def _named(name: str, views: Sequence[Changes]) -> Entry | None:
    wanted = name.removeprefix("./")
    return next((file for view in views for file in view.files if file.path == wanted), None)


def _table(view: Changes) -> Table:
    rows = [(file.path, file.counts, file.kind) for file in view.files[:SHOWN]]
    if view.total > len(rows):
        rows.append((f"and {view.total - len(rows)} more", "", ""))
    return Table(("File", "Lines", ""), tuple(rows))
