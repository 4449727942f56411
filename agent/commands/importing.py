"""The command that copies the settings of another program: shown first, then done."""

from __future__ import annotations

import asyncio
from functools import partial

from gatewright.agent.commands.outcome import Outcome, Problem, Say
from gatewright.agent.commands.registry import Command, CommandContext
from gatewright.agent.settings.overview import SettingsBook

USAGE = "Usage: /import shows what can be copied of Claude Code's settings; /import claude does it."


def import_commands(book: SettingsBook) -> tuple[Command, ...]:
    return (
        Command(
            name="import",
            summary="Copy Claude Code's settings; shown first",
            args="[claude]",
            run=partial(import_, book),
        ),
    )


async def import_(book: SettingsBook, context: CommandContext) -> Outcome:
    if context.args not in ("", "claude"):
        return Problem.of(USAGE)
    lines = await asyncio.to_thread(_lines, book, doing=bool(context.args))
    return Say.text("\n".join(lines))


def _lines(book: SettingsBook, *, doing: bool) -> list[str]:
    from gatewright.agent.subcommands.import_ import (  # noqa: PLC0415  lazy: 60 ms, typer
        copied,
        shown,
        surveyed,
    )

    around = book.around
    copies = surveyed(around.places, around.env)
    lines = list(shown(copies, around.places, around.env))
    if not any(copy.values for copy in copies):
        return [*lines, "There is nothing to copy."]
    if not doing:
        return [*lines, "/import claude copies this."]
    return [*lines, *copied(copies)]
