"""/hooks: every hook there is, how it goes; try one, or switch it off for this session."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from gatewright.agent.commands.outcome import Act, Choice, Listing, Outcome, Page, Problem, Say
from gatewright.agent.commands.registry import Command, CommandContext
from gatewright.tools.blocks import Block, Output, Table, Text

if TYPE_CHECKING:
    from gatewright.agent.extensions.hooks import Hooks  # it makes what is here
    from gatewright.agent.hooks.shown.rows import HookRow

NOTHING = "There are no hooks here: write `hooks` in a settings.json; agent hooks check reads it."
HINT = "/hooks N shows one, /hooks test N tries it, /hooks off N and on N count for this session."
USAGE = "Usage: /hooks [N | test N | off N | on N]"
WIDTH = 50


def hook_commands(book: Hooks) -> tuple[Command, ...]:
    return (
        Command(
            name="hooks",
            summary="Hooks: what runs when, how it goes, try one",
            args="[N | test N | off N | on N]",
            run=partial(hooks, book),
        ),
    )


async def hooks(book: Hooks, context: CommandContext) -> Outcome:
    verb, _, id = context.args.strip().rpartition(" ")
    rows = book.rows()
    book.seen()
    if not rows:
        return Page.text("Hooks", NOTHING)
    if not id:
        return listing(book, Say((_table(rows), Text(HINT, "dim"))))
    row = _row(rows, id)
    if row is None:
        return Problem.of(f"There is no hook {id}. {USAGE}")
    match verb.strip():
        case "":
            return Say(tuple(_details(row)))
        case "test":
            return Say.text(await book.tried(row))
        case "off" | "on":
            return Say.text(book.switched(row, on=verb == "on"))
        case _:
            return Problem.of(USAGE)


def listing(book: Hooks, fallback: Say) -> Listing:
    """Follows what happens, by event."""

    async def read(id: str) -> Sequence[Block]:
        row = _row(book.rows(), id)
        return _details(row) if row is not None else (Text("It is gone.", "warning"),)

    async def test(id: str) -> Outcome:
        row = _row(book.rows(), id)
        return Say.text(await book.tried(row)) if row is not None else Say(())

    async def switch(id: str) -> Outcome:
        row = _row(book.rows(), id)
        if row is None:
            return Say(())
        return Say.text(book.switched(row, on=row.state == "off"))

    return Listing(
        fallback=fallback,
        title="Hooks",
        rows=lambda: [_choice(row) for row in book.rows()],
        read=read,
        acts=(Act("ctrl+t", "tries it", test), Act("ctrl+o", "off or on for this session", switch)),
        follows=True,
    )


def _row(rows: Sequence[HookRow], id: str) -> HookRow | None:
    return next((row for row in rows if row.id == id), None)


def _choice(row: HookRow) -> Choice:
    about = " ".join(filter(None, (row.handler.event, row.matcher)))
    detail = f"{row.state} · {row.times}"
    return Choice(row.id, f"{about}: {_cut(row.handler.name)}", detail, typed=f"/hooks {row.id}")


def _table(rows: Sequence[HookRow]) -> Table:
    cells = tuple(
        (row.id, row.handler.event, row.matcher, _cut(row.handler.name), row.state, row.times)
        for row in rows
    )
    return Table(("", "Event", "Matcher", "Hook", "State", "Runs"), cells)


def _details(row: HookRow) -> Sequence[Block]:
    from gatewright.agent.hooks.shown.rows import details  # noqa: PLC0415  loaded with the hooks

    last = row.tally.last
    printed = (last.output.stdout + last.output.stderr).rstrip() if last is not None else ""
    table = Table(("", ""), tuple(details(row)))
    return (table, Output(printed)) if printed else (table,)


def _cut(text: str) -> str:
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 1]}…"
