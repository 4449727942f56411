"""/sandbox: what commands may do in this session, and what was stopped lately."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from gatewright.agent.commands.outcome import Outcome, Page, Problem, Say
from gatewright.agent.commands.registry import Command, CommandContext
from gatewright.tools.blocks import Block


class Confinement(NamedTuple):
    """How commands are confined, in a line."""

    said: Callable[[], str]


def sandbox_command(
    panel: Callable[[], tuple[Block, ...]], restore: Callable[[str], tuple[Block, ...]]
) -> Command:
    async def run(context: CommandContext) -> Outcome:
        word, _, number = context.args.partition(" ")
        if word == "restore":
            return Say(restore(number.strip()))
        if word:
            return Problem.of("It is /sandbox alone, or /sandbox restore N.")
        return Page(title="Sandbox", fallback=Say(panel()))

    return Command(
        name="sandbox",
        summary="Show how commands are confined, or take back what was put aside",
        args="[restore N]",
        run=run,
    )
