"""The commands that are about commands, and the way out."""

from __future__ import annotations

from gatewright.agent.commands.outcome import Outcome, Page, Quit, Say
from gatewright.agent.commands.registry import BUILT_IN, Command, CommandContext, Commands
from gatewright.tools.blocks import Table, Text

SHORT = 20  # cells of a list that is looked through for a name
SIGNS = (
    "/help NAME says all that one takes. "
    "! runs a command of your own, @ names a file and # keeps a line in memory; "
    "on the screen, ? on an empty prompt shows the keys."
)


def help_commands(known: Commands) -> tuple[Command, ...]:
    async def help_(context: CommandContext) -> Outcome:
        if context.args:
            return _about(context.args.removeprefix("/"), known)
        listed = sorted(known, key=lambda c: c.name)
        rows = tuple((f"/{c.name} {_short(c.args)}".rstrip(), _told(c)) for c in listed)
        shown = Say((Table(("Command", "What it does"), rows), Text(SIGNS, "dim")))
        return Page(title="Commands", fallback=shown)

    summary = "What you can type here"
    return (Command(name="help", summary=summary, args="[command]", aliases=("?",), run=help_),)


def _short(args: str) -> str:
    """What it takes, where that is said in a word or two; `/help NAME` has it all."""
    return args if len(args) <= SHORT else "\u2026"


def _told(command: Command) -> str:
    """What it does, and what else it is called."""
    also = ", ".join(f"/{alias}" for alias in command.aliases)
    return f"{command.summary} ({also})" if also else command.summary


def _about(name: str, known: Commands) -> Outcome:
    command = known.find(name)
    if command is None:
        return known.missing(name)
    lines = [f"/{command.name} {command.args}".rstrip(), command.summary]
    if command.aliases:
        lines.append("Also: " + ", ".join(f"/{alias}" for alias in command.aliases))
    if command.source != BUILT_IN:
        lines.append(f"From: {command.source}")
    return Say.text("\n".join(lines))


def exit_commands() -> tuple[Command, ...]:
    async def exit_(context: CommandContext) -> Outcome:  # noqa: ARG001  one signature
        return Quit()

    summary = "Leave; the session is kept"
    return (Command(name="exit", summary=summary, aliases=("quit", "q"), run=exit_, leaves=True),)
