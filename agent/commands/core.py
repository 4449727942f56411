"""The commands every session has. `built_in` lists them all, in the order help shows them."""

from __future__ import annotations

from gatewright.agent.commands import (
    bug,
    config,
    diff,
    history,
    importing,
    memory,
    models,
    plan,
    session,
    settings,
    setup,
    statusline,
    tasks,
)
from gatewright.agent.commands.outcome import Outcome, Panel, Quit, Say
from gatewright.agent.commands.registry import Command, CommandContext
from gatewright.tools.blocks import Table, Text

SIGNS = (
    "On the screen, ! runs a command of your own, @ names a file, # keeps a line in memory, "
    "and ? on an empty prompt shows the keys."
)


def built_in() -> tuple[Command, ...]:
    return (
        Command(
            name="help",
            summary="What you can type here",
            args="[command]",
            aliases=("?",),
            run=help_,
        ),
        *config.commands(),
        *models.commands(),
        *setup.commands(),
        *settings.commands(),
        *importing.commands(),
        *statusline.commands(),
        *session.commands(),
        *history.commands(),
        *tasks.commands(),
        *diff.commands(),
        *plan.commands(),
        *bug.commands(),
        *memory.commands(),
        Command(
            name="exit",
            summary="Leave; the session is kept",
            aliases=("quit", "q"),
            run=exit_,
        ),
    )


async def help_(args: str, context: CommandContext) -> Outcome:
    if args:
        return _about(args, context)
    rows = tuple((f"/{c.name} {c.args}".rstrip(), c.summary) for c in context.commands)
    table = Table(("Command", "What it does"), rows)
    return Panel("help", fallback=Say((table, Text(SIGNS, "dim"))))


def _about(name: str, context: CommandContext) -> Outcome:
    command = context.commands.find(name.removeprefix("/"))
    if command is None:
        near = context.commands.nearest(name)
        hint = f" Did you mean /{near}?" if near else " /help lists them."
        return Say.text(f"There is no command /{name.removeprefix('/')}.{hint}", "warning")
    lines = [f"/{command.name} {command.args}".rstrip(), command.summary]
    if command.aliases:
        lines.append("Also: " + ", ".join(f"/{alias}" for alias in command.aliases))
    if command.source != "built-in":
        lines.append(f"From: {command.source}")
    return Say.text("\n".join(lines))


async def exit_(args: str, context: CommandContext) -> Outcome:  # noqa: ARG001  one signature
    return Quit()
