"""`agent import claude`: show what would be copied of Claude Code's settings, ask, copy it."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from gatewright.agent.errors import SettingsError
from gatewright.agent.settings import claude as theirs
from gatewright.agent.settings.rulefile import Behavior
from gatewright.agent.settings.schema import Source
from gatewright.agent.subcommands.place import here, refuse_inside_session
from gatewright.agent.subcommands.tell import tell

group = typer.Typer(help="Copy settings of another program.", no_args_is_help=True)
Sure = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def register(app: typer.Typer) -> None:
    app.add_typer(group, name="import")


@group.callback()
def _group() -> None:
    """Makes it a group though it knows a single program."""


@group.command()
def claude(yes: Sure = False) -> None:
    """Copy permissions, env and model of Claude Code into our files; yours stay as they are."""
    refuse_inside_session()
    places = here().places
    copies = list(theirs.survey(places, os.environ, _check))
    for copy in copies:
        _show(copy)
    for left in theirs.beside(places, os.environ):
        tell(f"Left out: {left.what}: {left.why}.")
    new = [copy for copy in copies if copy.values]
    if not new:
        tell("There is nothing to copy.")
        return
    if not yes:
        if not sys.stdin.isatty():
            raise SettingsError("Nothing was copied. Add --yes to copy this.")
        typer.confirm("Copy this?", abort=True)
    for copy in new:
        theirs.apply(copy)
        tell(f"Copied into {copy.target}")
    tell("agent sessions import FILE copies a session.")


def _show(copy: theirs.Copy) -> None:
    tell(f"{copy.origin} -> {copy.target}")
    for key, value in theirs.rows(copy.values):
        tell(f"  + {key}  {value}")
    if not copy.values:
        tell("  nothing new")
    for left in copy.left:
        tell(f"  - {left.what}: {left.why.rstrip('.')}.")


def _check(rule: str, behavior: Behavior, source: Source) -> str:
    from gatewright.permissions.rules import parse_rule  # noqa: PLC0415  lazy: 5 ms

    return parse_rule(rule, behavior, source)[1]
