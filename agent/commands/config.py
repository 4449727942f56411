"""Commands that choose how the session works: mode, permission rules, open directories."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from gatewright.agent.commands.outcome import Change, Choice, Outcome, Pick, Problem, Say, SetMode
from gatewright.agent.commands.panels import RulesPanel
from gatewright.agent.commands.registry import Command, CommandContext, Modes, RuleBook
from gatewright.agent.commands.rules.keeping_places import SESSION, Shelf
from gatewright.agent.commands.rules.rule_editor import PermissionBook
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
ELSEWHERE = "{} cannot be entered here: acp.fullAccess in your own settings offers it."


def mode_commands(modes: Modes) -> tuple[Command, ...]:
    run = partial(mode, modes)
    return (Command(name="mode", summary="What runs without asking", args="[name]", run=run),)


def rule_commands(rules: RuleBook, book: PermissionBook) -> tuple[Command, ...]:
    return (
        Command(
            name="permissions",
            summary="Rules for what may run, asks, or never runs",
            args=ARGS,
            aliases=("allowed-tools",),
            run=partial(permissions, rules, book),
        ),
        Command(
            name="add-dir",
            summary="Open a further directory to this session",
            args=DIR_ARGS,
            run=partial(add_dir, rules, book),
        ),
    )


async def mode(modes: Modes, context: CommandContext) -> Outcome:
    args = context.args
    name, _, sure = args.partition(" ")
    if not context.front.agrees and modes.caution(name):
        return Problem.of(ELSEWHERE.format(name))
    if name and sure.strip() == YES:
        return Change(SetMode(name))
    if args:
        return entering(modes, args)
    current = modes.current()
    rows = tuple(("*" if name == current else "", name, runs) for name, runs in modes.rows())
    table = Table(("", "Mode", "Runs without asking"), rows)
    keys = ["default"]
    while (following := modes.after(keys[-1])) not in keys:
        keys.append(following)
    hint = Text(f"/mode NAME switches. Shift+Tab goes through {', '.join(keys)}.", "dim")

    async def choose(name: str) -> Outcome:
        return entering(modes, name)

    return Pick(
        fallback=Say((table, hint)),
        title="Mode",
        choices=tuple(Choice(name, name, runs, typed=f"/mode {name}") for _, name, runs in rows),
        choose=choose,
        at=next((n for n, row in enumerate(rows) if row[0]), 0),
    )


def entering(modes: Modes, name: str) -> Outcome:
    """A mode that asks nothing is agreed to first: once, and the usual answer is no."""
    caution = modes.caution(name)
    if not caution:
        return Change(SetMode(name))
    current = modes.current()
    choices = (
        Choice("", f"No, stay in {current}"),
        Choice(YES, "Yes, in this session", typed=f"/mode {name} {YES}"),
    )

    async def choose(id: str) -> Outcome:
        return Change(SetMode(name)) if id == YES else Say(())

    rows = tuple((choice.label, choice.typed) for choice in choices)
    return Pick(
        fallback=Say((Text(caution), Table(("", "Choose with"), rows))),
        title="Work without asking?",
        choices=choices,
        choose=choose,
        about=(caution,),
    )


async def permissions(rules: RuleBook, book: PermissionBook, context: CommandContext) -> Outcome:
    verb, _, rule = context.args.partition(" ")
    rule = rule.strip()
    if verb == "why":
        return _why(rule, rules)
    if not verb:
        return _panel(rules, book)
    if not rule or verb not in (*BEHAVIORS, "remove"):
        return Problem.of(USAGE)
    try:
        if verb == "remove":
            return Say.text(await _remove(rule, rules, book))
        scopes, rule = flags(rule)
        if not scopes:
            return Say.text(rules.add(verb, rule))
        return Say.text((await book.add(verb, rule, _shelf(scopes, book.shelves()))).text)
    except (ValueError, GatewrightError) as error:
        return Problem.of(str(error))


def _panel(rules: RuleBook, book: PermissionBook, tab: str = "") -> Outcome:
    return RulesPanel(fallback=Say(tuple(rules.table())), book=book, tab=tab)


async def _remove(rule: str, session: RuleBook, book: PermissionBook) -> str:
    """From this session, else from the one place where it stands."""
    scopes, rule = flags(rule)
    rows = [row for row in book.rows() if row.text == rule]
    if scopes:
        rows = [row for row in rows if row.source in scopes]
    rows = [row for row in rows if row.source == SESSION] or rows
    if not rows:
        return session.remove(rule)
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


async def add_dir(rules: RuleBook, book: PermissionBook, context: CommandContext) -> Outcome:
    given, path = flags(context.args)
    scopes = [flag for flag in given if flag != "anyway"]
    if not path:
        return _panel(rules, book, "directories")
    try:
        shelf = _shelf(scopes, book.folders.shelves())
        return Say.text((await book.folders.open(path, shelf, anyway="anyway" in given)).text)
    except (ValueError, GatewrightError) as error:
        return Problem.of(str(error))


def _why(number: str, rules: RuleBook) -> Outcome:
    """`why` alone is about the last decision."""
    if number and not (number.isascii() and number.isdigit() and len(number) < 6):
        return Problem.of("/permissions why takes a number; 1 is the last decision.")
    try:
        return Say(tuple(rules.why(int(number or 1))))
    except ValueError as error:
        return Problem.of(str(error))
