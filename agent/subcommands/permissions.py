"""`agent permissions`: rules from the command line, and decisions without a session."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from gatewright.agent.errors import GatewrightError
from gatewright.agent.settings.rulefile import add_rule, remove_rule
from gatewright.agent.settings.schema import Source
from gatewright.agent.settings.sources import RuleTexts
from gatewright.agent.subcommands.jsonl import Jsonl, answer_lines
from gatewright.agent.subcommands.place import Here, here, refuse_inside_session

group = typer.Typer(help="Permission rules.", no_args_is_help=True)


class Behavior(StrEnum):
    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


class Scope(StrEnum):
    USER = "user"
    PROJECT = "project"
    LOCAL = "local"


Where = Annotated[Scope, typer.Option("--scope", "-s", help="Which settings file.")]
Rule = Annotated[str, typer.Argument(help='A rule such as "Bash(npm test)".')]


def register(app: typer.Typer) -> None:
    app.add_typer(group, name="permissions")


@group.command()
def check(jsonl: Jsonl = False) -> None:
    """Decide calls given as JSON lines, with nothing taken from this machine."""
    from gatewright.permissions.check import check_line  # noqa: PLC0415  lazy: 30 ms

    answer_lines(jsonl, check_line)


@group.command(name="list")
def list_() -> None:
    """List the rules in force, with where each comes from."""
    place = here()
    for source, rules in place.loaded.rules.items():
        for behavior, texts in _lists(rules):
            for text in texts:
                typer.echo(f"{behavior.ljust(5)}  {text}  ({source})")
                if wrong := _problem(text, behavior, source):
                    typer.echo(f"       {wrong}", err=True)
    for problem in place.loaded.problems:
        typer.echo(problem.text(), err=True)


@group.command()
def add(behavior: Behavior, rule: Rule, scope: Where = Scope.LOCAL) -> None:
    """Add a rule to a settings file."""
    refuse_inside_session()
    place = here()
    source = Source(scope)
    if problem := _problem(rule, behavior, source):
        raise GatewrightError(problem)
    path = _file(place, source)
    new = add_rule(path, behavior, rule)
    typer.echo(f"{behavior} {rule} {'is in' if new else 'was already in'} {path}")
    if scope is not Scope.USER and not place.trusted and behavior is Behavior.ALLOW:
        typer.echo("This project is not trusted: agent trust add lets its rules count fully.")


@group.command()
def remove(rule: Rule, scope: Where = Scope.LOCAL) -> None:
    """Remove a rule from a settings file, from whichever list it is in."""
    refuse_inside_session()
    path = _file(here(), Source(scope))
    lists = remove_rule(path, rule)
    if not lists:
        raise GatewrightError(f"{path} has no rule {rule}.")
    typer.echo(f"{rule} is no longer in {', '.join(lists)} of {path}")


def _lists(rules: RuleTexts) -> tuple[tuple[Behavior, tuple[str, ...]], ...]:
    return (
        (Behavior.DENY, rules.deny),
        (Behavior.ASK, rules.ask),
        (Behavior.ALLOW, rules.allow),
    )


def _problem(text: str, behavior: Behavior, source: Source) -> str:
    from gatewright.permissions.rules import parse_rule  # noqa: PLC0415  lazy: 5 ms

    return parse_rule(text, behavior.value, source)[1]


def _file(place: Here, source: Source) -> Path:
    path = place.places.file(source)
    assert path is not None
    return path
