"""/sandbox: what commands may do in this session, and what was stopped lately."""

from __future__ import annotations

from collections.abc import Callable

from gatewright.agent.commands.outcome import Outcome, Say
from gatewright.agent.commands.registry import Command, CommandContext
from gatewright.tools.blocks import Block


def sandbox_command(
    panel: Callable[[], tuple[Block, ...]], restore: Callable[[str], tuple[Block, ...]]
) -> Command:
    async def run(args: str, context: CommandContext) -> Outcome:
        del context
        word, _, number = args.partition(" ")
        if word == "restore":
            return Say(restore(number.strip()))
        if word:
            return Say.text("It is /sandbox alone, or /sandbox restore N.", "warning")
        return Say(panel())

    return Command(
        name="sandbox",
        summary="Show how commands are confined, or take back what was put aside",
        args="[restore N]",
        run=run,
    )
