"""/bug: a report for whoever mends this program, written to a file and sent nowhere."""

from __future__ import annotations

import asyncio

from gatewright.agent.commands.outcome import Outcome, Say
from gatewright.agent.commands.registry import Command, CommandContext

NO_BOOK = "This session knows nothing to report about its settings."


def commands() -> tuple[Command, ...]:
    return (
        Command(
            name="bug",
            summary="Write a report about a defect to a file; nothing is sent",
            args="[WHAT HAPPENED]",
            run=bug,
        ),
    )


async def bug(args: str, context: CommandContext) -> Outcome:
    book = context.settings
    if book is None:
        return Say.text(NO_BOOK, "warning")
    from gatewright.agent.launch.bug_report import Told, write_report  # noqa: PLC0415  only when asked for

    told = Told(said=args, model=context.model, mode=context.modes.current())
    try:
        path = await asyncio.to_thread(write_report, book.around, told)
    except OSError as error:
        return Say.text(f"The report cannot be written: {error.strerror}.", "warning")
    return Say.text(
        f"Written to {path}. Nothing was sent: read it, take out what nobody should see, and add "
        "it to a report of yours. Secrets and the conversation are not in it."
    )
