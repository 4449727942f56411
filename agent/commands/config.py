"""Commands that choose how the session works: mode, permission rules, open directories."""

from __future__ import annotations

from collections.abc import Sequence

from gatewright.agent.commands.keeping_places import SESSION, Shelf
from gatewright.agent.commands.outcome import Change, Outcome, Panel, Say, SetMode
from gatewright.agent.commands.panels import RulesPanel
from gatewright.agent.commands.registry import Command, CommandContext
from gatewright.agent.errors import GatewrightError
from gatewright.tools.blocks import Table, Text

BEHAVIORS = ("allow", "ask", "deny")
ARGS = "[allow|ask|deny [--SCOPE] RULE | remove RULE | why [N]]"
USAGE = (
    f"Usage: /permissions {ARGS}, such as allow Bash(npm test). "
    "A scope is --local, --project or --user; without one it is this session."
)
DIR_ARGS = "[--local|--project|--user] [--anyway] [PATH]"
YES = "yes"
NO_BOOK = "This session keeps no rules beyond itself."


def commands() -> tuple[Command, ...]:
    return (
        Command(name="mode", summary="What runs without asking", args="[name]", run=mode),
        Command(
            name="permissions",
            summary="Rules for what may run, asks, or never runs",
            args=ARGS,
            aliases=("allowed-tools",),
            run=permissions,
        ),
        Command(
            name="add-dir",
            summary="Open a further directory to this session",
            args=DIR_ARGS,
            run=add_dir,
        ),
    )


async def mode(args: str, context: CommandContext) -> Outcome:
    name, _, sure = args.partition(" ")
    if name and sure.strip() == YES:
        return Change(SetMode(name))
    if args:
        caution = context.modes.caution(args)
        return _agreement(args, caution, context) if caution else Change(SetMode(args))
    current = context.modes.current()
    rows = tuple(
        ("*" if name == current else "", name, runs) for name, runs in context.modes.rows()
    )
    table = Table(("", "Mode", "Runs without asking"), rows)
    keys = ["default"]
    while (following := context.modes.after(keys[-1])) not in keys:
        keys.append(following)
    hint = Text(f"/mode NAME switches. Shift+Tab goes through {', '.join(keys)}.", "dim")
    return Panel("mode", fallback=Say((table, hint)))


def _agreement(name: str, caution: str, context: CommandContext) -> Outcome:
    """Asked before a mode that asks nothing: once, and the usual answer is no."""
    current = context.modes.current()
    rows = (
        (f"No, stay in {current}", ""),
        ("Yes, in this session", f"/mode {name} {YES}"),
    )
    return Panel("agreement", fallback=Say((Text(caution), Table(("", "Choose with"), rows))))


async def permissions(args: str, context: CommandContext) -> Outcome:
    verb, _, rule = args.partition(" ")
    rule = rule.strip()
    if verb == "why":
        return _why(rule, context)
    if not verb:
        return _panel(context)
    if not rule or verb not in (*BEHAVIORS, "remove"):
        return Say.text(USAGE, "warning")
    try:
        if verb == "remove":
            return Say.text(await _remove(rule, context))
        scopes, rule = flags(rule)
        if not scopes:
            return Say.text(context.rules.add(verb, rule))
        if context.permissions is None:
            return Say.text(NO_BOOK, "warning")
        shelf = _shelf(scopes, context.permissions.shelves())
        return Say.text((await context.permissions.add(verb, rule, shelf)).text)
    except (ValueError, GatewrightError) as error:
        return Say.text(str(error), "warning")


def _panel(context: CommandContext, tab: str = "") -> Outcome:
    fallback = Say(tuple(context.rules.table()))
    if context.permissions is None:
        return Panel("permissions", fallback=fallback)
    return RulesPanel("permissions", fallback=fallback, book=context.permissions, tab=tab)


async def _remove(rule: str, context: CommandContext) -> str:
    """From this session, else from the one place where it stands."""
    book = context.permissions
    if book is None:
        return context.rules.remove(rule)
    scopes, rule = flags(rule)
    rows = [row for row in book.rows() if row.text == rule]
    if scopes:
        rows = [row for row in rows if row.source in scopes]
    rows = [row for row in rows if row.source == SESSION] or rows
    if not rows:
        return context.rules.remove(rule)
    if len(sources := sorted({row.source for row in rows})) > 1:
        raise ValueError(f"{rule} stands in several places: say --{' or --'.join(sources)}.")
    done = [await book.remove(row) for row in rows]
    return "\n".join(each.text for each in done)


def flags(text: str) -> tuple[list[str], str]:
    """The words behind leading dashes, and what follows them."""
    found: list[str] = []
    while text.startswith("--"):
        flag, _, text = text.partition(" ")
        found.append(flag[2:])
        text = text.lstrip()
    return found, text


def _shelf(scopes: Sequence[str], shelves: Sequence[Shelf]) -> Shelf:
    name = scopes[-1] if scopes else SESSION
    shelf = next((shelf for shelf in shelves if shelf.name == name), None)
    if shelf is None:
        names = ", ".join(f"--{shelf.name}" for shelf in shelves if shelf.file)
        raise ValueError(f"Nothing can be kept in --{name} here: {names} can.")
    return shelf


async def add_dir(args: str, context: CommandContext) -> Outcome:
    book = context.permissions
    if book is None:
        return Say.text(NO_BOOK, "warning")
    given, path = flags(args)
    scopes = [flag for flag in given if flag != "anyway"]
    if not path:
        return _panel(context, "directories")
    try:
        shelf = _shelf(scopes, book.folders.shelves())
        return Say.text((await book.folders.open(path, shelf, anyway="anyway" in given)).text)
    except (ValueError, GatewrightError) as error:
        return Say.text(str(error), "warning")


def _why(number: str, context: CommandContext) -> Outcome:
    """`why` alone is about the last decision."""
    if number and not (number.isascii() and number.isdigit() and len(number) < 6):
        return Say.text("/permissions why takes a number; 1 is the last decision.", "warning")
    try:
        return Say(tuple(context.rules.why(int(number or 1))))
    except ValueError as error:
        return Say.text(str(error), "warning")
