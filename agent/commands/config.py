"""Commands that choose how the session works: mode, permission rules."""

from __future__ import annotations

from gatewright.agent.commands.outcome import Change, Outcome, Panel, Say, SetMode
from gatewright.agent.commands.registry import Command, CommandContext
from gatewright.tools.blocks import Table, Text

BEHAVIORS = ("allow", "ask", "deny")
USAGE = (
    "Usage: /permissions [allow|ask|deny RULE | remove RULE | why [N]], "
    "such as allow Bash(npm test)"
)


def commands() -> tuple[Command, ...]:
    return (
        Command(name="mode", summary="What runs without asking", args="[name]", run=mode),
        Command(
            name="permissions",
            summary="Rules for what may run, asks, or never runs",
            args="[allow|ask|deny RULE | remove RULE | why [N]]",
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
    if verb == "why":
        return _why(rule, context)
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


def _why(number: str, context: CommandContext) -> Outcome:
    """`why` alone is about the last decision."""
    if number and not (number.isascii() and number.isdigit() and len(number) < 6):
        return Say.text("/permissions why takes a number; 1 is the last decision.", "warning")
    try:
        return Say(tuple(context.rules.why(int(number or 1))))
    except ValueError as error:
        return Say.text(str(error), "warning")
