"""Commands about the session at hand."""

from __future__ import annotations

from gatewright.agent.commands.outcome import Change, ClearHistory, Outcome, Say
from gatewright.agent.commands.registry import Command, CommandContext
from gatewright.agent.commands.session_switch import anew
from gatewright.tools.blocks import Table


def commands() -> tuple[Command, ...]:
    return (
        Command(
            name="clear",
            summary="Begin a new conversation; /resume goes back to this one",
            aliases=("new", "reset"),
            run=clear,
        ),
        Command(name="cost", summary="Tokens and dollars of this session", run=cost),
        Command(name="status", summary="Model and mode of this session", run=status),
    )


async def clear(args: str, context: CommandContext) -> Outcome:  # noqa: ARG001  one signature
    if context.switches and context.past is not None:
        return await anew(context, context.past)
    return Change(ClearHistory())


async def cost(args: str, context: CommandContext) -> Outcome:  # noqa: ARG001  one signature
    return Say(tuple(context.spending))


async def status(args: str, context: CommandContext) -> Outcome:  # noqa: ARG001  one signature
    mode = context.modes.current()
    runs = dict(context.modes.rows()).get(mode, "")
    rows = (("Model", context.model or "none yet"), ("Mode", f"{mode}: {runs}" if runs else mode))
    return Say((Table(("", ""), rows),))
