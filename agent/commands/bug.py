"""/bug: a report for whoever mends this program, written to a file and sent nowhere."""

from __future__ import annotations

import asyncio
from functools import partial

from gatewright.agent.commands.outcome import Outcome, Problem, Say
from gatewright.agent.commands.registry import Command, CommandContext, InUse, Modes
from gatewright.agent.settings.overview import SettingsBook


def bug_commands(book: SettingsBook, modes: Modes, in_use: InUse) -> tuple[Command, ...]:
    return (
        Command(
            name="bug",
            summary="Write a report about a defect to a file; nothing is sent",
            args="[WHAT HAPPENED]",
            run=partial(bug, book, modes, in_use),
        ),
    )


async def bug(book: SettingsBook, modes: Modes, in_use: InUse, context: CommandContext) -> Outcome:
    from gatewright.agent.launch.bug_report import Told, write_report  # noqa: PLC0415  only when asked for

    told = Told(said=context.args, model=in_use.name, mode=modes.current())
    try:
        path = await asyncio.to_thread(write_report, book.around, told)
    except OSError as error:
        return Problem.of(f"The report cannot be written: {error.strerror}.")
    return Say.text(
        f"Written to {path}. Nothing was sent: read it, take out what nobody should see, and add "
        "it to a report of yours. Secrets and the conversation are not in it."
    )
