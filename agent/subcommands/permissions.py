"""`agent permissions`: rules from the command line, and decisions without a session."""

from __future__ import annotations

import shlex
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from gatewright.agent.errors import GatewrightError
from gatewright.agent.launch.exits import UsageError
from gatewright.agent.settings.rulefile import add_rule, remove_rule
from gatewright.agent.settings.traits import Source
from gatewright.agent.subcommands.place import (
    Scope,
    file_of,
    here,
    refuse_inside_session,
    wrong_rule,
)
from gatewright.agent.subcommands.questions.jsonl import Jsonl, answer_lines
from gatewright.agent.subcommands.tell import tell

UNTRUSTED = "The project is not trusted: for commands it counts in the sandbox alone."
group = typer.Typer(help="Permission rules.", no_args_is_help=True)


class Behavior(StrEnum):
    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


Where = Annotated[Scope, typer.Option("--scope", "-s", help="Which settings file.")]
Mode = Annotated[str, typer.Option("--mode", "-m", help="In this mode.")]
Rule = Annotated[str, typer.Argument(help='A rule such as "Bash(npm test)".')]


@group.command()
def check(jsonl: Jsonl = False) -> None:
    """Decide calls given as JSON lines, with nothing taken from this machine."""
    from gatewright.permissions.check import check_line  # noqa: PLC0415  lazy: 30 ms

    answer_lines(jsonl, check_line)


@group.command()
def explain(
    command: Annotated[str, typer.Argument(help="A shell command, or a tool's input as JSON.")],
    tool: Annotated[str, typer.Option("--tool", "-t", help="The tool that is called.")] = "Bash",
    mode: Mode = "",
    nobody: Annotated[bool, typer.Option("--print", "-p", help="As in print mode.")] = False,
) -> None:
    """Show stage by stage what would happen to a call here, and why. Nothing is run."""
    from gatewright.agent.subcommands.questions.judging import Judge  # noqa: PLC0415  lazy: 60 ms

    for line in Judge(mode, interactive=not nobody).explain(tool, _input(tool, command)):
        tell(line)


@group.command()
def test(
    file: Annotated[Path, typer.Argument(help='JSON lines: {"command": "...", "expect": "ask"}.')],
) -> None:
    """Check that calls are decided as a file says; exit code 1 when one is not."""
    from gatewright.agent.subcommands.questions.judging import Judge  # noqa: PLC0415  lazy: 60 ms

    good = total = 0
    for holds, line in Judge().tested(file):
        total += 1
        good += holds
        if not holds:
            tell(line)
    tell(f"{good} of {total} as expected")
    if good < total:
        raise typer.Exit(1)


@group.command()
def suggest(
    least: Annotated[int, typer.Option("--least", min=1, help="Asked at least so often.")] = 2,
) -> None:
    """Rules for what you were asked and allowed again and again in this directory."""
    from gatewright.agent.subcommands.questions.judging import Judge, asked_before  # noqa: PLC0415  60 ms
    from gatewright.permissions.explain import mined  # noqa: PLC0415

    found = mined(asked_before(Judge()), least=least)
    for rule, count in found:
        tell(f"{count} times  agent permissions add allow {shlex.quote(rule)}")
    if not found:
        tell("Nothing was asked that often here.")


@group.command(name="list")
def list_() -> None:
    """List the rules in force, with where each comes from, also those that are built in."""
    from gatewright.agent.subcommands.questions.judging import Judge  # noqa: PLC0415  lazy: 60 ms

    place = here()
    for rule in Judge().listed():
        tell(f"{rule.behavior.ljust(5)}  {rule.text}  ({rule.source})")
        theirs = rule.behavior == "allow" and rule.source in (Source.PROJECT, Source.LOCAL)
        if rule.mark:
            tell(f"       {rule.about}", err=True)
        elif theirs and not place.trusted:
            tell(f"       {UNTRUSTED}", err=True)
    for problem in place.loaded.problems:
        tell(problem.text(), err=True)


@group.command()
def add(behavior: Behavior, rule: Rule, scope: Where = Scope.LOCAL) -> None:
    """Add a rule to a settings file."""
    refuse_inside_session()
    place = here()
    if problem := wrong_rule(rule, behavior.value, scope.source):
        raise GatewrightError(problem)
    from gatewright.permissions.rulebook.known_tools import unknown  # noqa: PLC0415  lazy: 5 ms
    from gatewright.permissions.rulebook.rules import tool_of  # noqa: PLC0415

    if told := unknown(tool_of(rule)):
        if behavior is Behavior.DENY:
            raise UsageError(f"deny {rule} would forbid nothing. {told}")
        tell(told, err=True)
    path = file_of(place, scope)
    new = add_rule(path, behavior, rule)
    tell(f"{behavior} {rule} {'is in' if new else 'was already in'} {path}")
    if scope is not Scope.USER and not place.trusted and behavior is Behavior.ALLOW:
        tell("This project is not trusted: agent trust add lets its rules count fully.")


@group.command()
def remove(rule: Rule, scope: Where = Scope.LOCAL) -> None:
    """Remove a rule from a settings file, from whichever list it is in."""
    refuse_inside_session()
    path = file_of(here(), scope)
    lists = remove_rule(path, rule)
    if not lists:
        raise GatewrightError(f"{path} has no rule {rule}.")
    tell(f"{rule} is no longer in {', '.join(lists)} of {path}")


def _input(tool: str, text: str) -> dict[str, Any]:
    if tool.lower() == "bash" and not text.lstrip().startswith("{"):
        return {"command": text}
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise UsageError(f"The input of {tool} is a JSON object: {error}.") from error
