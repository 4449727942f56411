"""Commands that choose how the session works: mode, permission rules."""

from __future__ import annotations

from gatewright.agent.commands.outcome import Change, Outcome, Panel, Say, SetMode
from gatewright.agent.commands.registry import Command, CommandContext
from gatewright.tools.blocks import Table, Text

BEHAVIORS = ("allow", "ask", "deny")
USAGE = "Usage: /permissions [allow|ask|deny RULE | remove RULE], such as allow Bash(npm test)"


def commands() -> tuple[Command, ...]:
    return (
        Command(name="mode", summary="What runs without asking", args="[name]", run=mode),
        Command(
            name="permissions",
            summary="Rules for what may run, asks, or never runs",
            args="[allow|ask|deny RULE | remove RULE]",
            aliases=("allowed-tools",),
            run=permissions,
        ),
    )


async def mode(args: str, context: CommandContext) -> Outcome:
    if args:
        return Change(SetMode(args))
    current = context.modes.current()
    rows = tuple(
        ("*" if name == current else "", name, runs) for name, runs in context.modes.rows()
    )
    table = Table(("", "Mode", "Runs without asking"), rows)
    hint = Text("/mode NAME switches, and so does Shift+Tab.", "dim")
    return Panel("mode", fallback=Say((table, hint)))


async def permissions(args: str, context: CommandContext) -> Outcome:
    verb, _, rule = args.partition(" ")
    rule = rule.strip()
    if not verb:
        return Panel("permissions", fallback=Say(tuple(context.rules.table())))
    if not rule or verb not in (*BEHAVIORS, "remove"):
        return Say.text(USAGE, "warning")
    try:
        if verb == "remove":
            return Say.text(context.rules.remove(rule))
        return Say.text(context.rules.add(verb, rule))
    except ValueError as error:
        return Say.text(str(error), "warning")
