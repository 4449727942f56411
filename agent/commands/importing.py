"""The command that copies the settings of another program: shown first, then done."""

from __future__ import annotations

import asyncio
from functools import partial

from gatewright.agent.commands.outcome import Outcome, Problem, Say
from gatewright.agent.commands.registry import Command, CommandContext
from gatewright.agent.settings.overview import SettingsBook

USAGE = (
    "Usage: /import shows what can be copied of Claude Code's settings; /import claude does it; "
    "/import claude link, or copy, brings skills, commands, agents and styles over as well."
)
NOTHING = "Nothing of Claude Code's is here to copy."
BRING = "/import claude link, or copy, brings them over"


def import_commands(book: SettingsBook) -> tuple[Command, ...]:
    return (
        Command(
            name="import",
            summary="Copy Claude Code's settings; shown first",
            args="[claude [link | copy]]",
            run=partial(import_, book),
        ),
    )


async def import_(book: SettingsBook, context: CommandContext) -> Outcome:
    whose, _, way = context.args.partition(" ")
    if whose not in ("", "claude") or way.strip() not in ("", "link", "copy"):
        return Problem.of(USAGE)
    lines = await asyncio.to_thread(_lines, book, way.strip(), doing=bool(whose))
    return Say.text("\n".join(lines))


def _lines(book: SettingsBook, files: str, *, doing: bool) -> list[str]:
    from gatewright.agent.settings.foreign.claude_files import entries  # noqa: PLC0415  with it
    from gatewright.agent.subcommands.import_ import (  # noqa: PLC0415  lazy: 60 ms, typer
        brought,
        copied,
        listed,
        shown,
        surveyed,
        way_of,
    )
    from gatewright.agent.subcommands.place import refuse_inside_session  # noqa: PLC0415

    around = book.around
    way = way_of(files) if files else None
    copies, found = surveyed(around.places, around.env), list(entries(around.places, around.env))
    lines = [*shown(copies), *listed(found, way, BRING)]
    settings = any(copy.values for copy in copies)
    if not lines:
        return [NOTHING]
    if not doing:
        return [*lines, "/import claude copies this."] if settings else lines
    if not (settings or (way and any(not each.why for each in found))):
        return [*lines, "There is nothing to copy."]
    refuse_inside_session()
    return [*lines, *copied(copies), *(brought(found, way) if way else ())]
