"""Commands about the session at hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from gatewright.agent.commands.outcome import Change, ClearHistory, Outcome, Page, Say
from gatewright.agent.commands.registry import Command, CommandContext
from gatewright.agent.commands.session_switch import Left, anew
from gatewright.agent.session.history_actions import Past
from gatewright.tools.blocks import Block, Table

Facts: TypeAlias = Callable[[], Sequence[tuple[str, str]]]


def session_commands(
    past: Past,
    left: Left,
    spent: Callable[[], Sequence[Block]],
    facts: Facts = tuple,
) -> tuple[Command, ...]:
    async def clear(context: CommandContext) -> Outcome:
        if context.front.switches:
            return await anew(context, past, left)
        return Change(ClearHistory())

    async def cost(context: CommandContext) -> Outcome:  # noqa: ARG001  one signature
        return Page(title="What was spent", fallback=Say(tuple(spent())))

    async def status(context: CommandContext) -> Outcome:  # noqa: ARG001  one signature
        mode = left.modes.current()
        runs = dict(left.modes.rows()).get(mode, "")
        shown = f"{mode}: {runs}" if runs else mode
        rows = [("Model", left.in_use.name or "none yet"), ("Mode", shown)]
        told = {**dict(rows), **dict(facts())}
        return Page(title="This session", fallback=Say((Table(("", ""), tuple(told.items())),)))

    return (
        Command(
            name="clear",
            summary="Begin a new conversation; /resume goes back to this one",
            aliases=("new", "reset"),
            run=clear,
        ),
        Command(
            name="cost",
            summary="Tokens and dollars of this session",
            aliases=("usage",),
            run=cost,
        ),
        Command(
            name="status",
            summary="Model, mode, folder, trust, sandbox and files of this session",
            run=status,
        ),
    )
