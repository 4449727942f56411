"""`agent import claude`: show what would be copied of Claude Code's settings, ask, copy it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated

import typer

from gatewright.agent.errors import SettingsError
from gatewright.agent.settings.foreign import claude as theirs
from gatewright.agent.settings.foreign.offers import remember
from gatewright.agent.settings.paths import Places
from gatewright.agent.subcommands.place import here, refuse_inside_session, wrong_rule
from gatewright.agent.subcommands.tell import tell

group = typer.Typer(help="Copy settings of another program.", no_args_is_help=True)
Sure = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


@group.command()
def claude(yes: Sure = False) -> None:
    """Copy permissions, env and model of Claude Code into our files; yours stay as they are."""
    refuse_inside_session()
    places = here().places
    copies = surveyed(places, os.environ)
    for line in shown(copies, places, os.environ):
        tell(line)
    if not any(copy.values for copy in copies):
        tell("There is nothing to copy.")
        return
    if not yes:
        if not sys.stdin.isatty():
            raise SettingsError("Nothing was copied. Add --yes to copy this.")
        typer.confirm("Copy this?", abort=True)
    for line in copied(copies):
        tell(line)
    tell("agent sessions import FILE copies a session.")


def surveyed(places: Places, env: Mapping[str, str]) -> list[theirs.Copy]:
    """What can be copied, of each file there is; who looks need not be told of them any more."""
    copies = list(theirs.survey(places, env, wrong_rule))
    remember(places, [copy.origin for copy in copies])
    return copies


def shown(copies: Iterable[theirs.Copy], places: Places, env: Mapping[str, str]) -> Iterator[str]:
    """What would be copied, and what not and why, in lines."""
    for copy in copies:
        yield f"{copy.origin} -> {copy.target}"
        yield from (f"  + {key}  {value}" for key, value in theirs.rows(copy.values))
        if not copy.values:
            yield "  nothing new"
        yield from (f"  - {left.what}: {left.why.rstrip('.')}." for left in copy.left)
    for left in theirs.beside(places, env):
        yield f"Left out: {left.what}: {left.why}."


def copied(copies: Iterable[theirs.Copy]) -> Iterator[str]:
    """Copies it, and says so. Raises SettingsError."""
    for copy in copies:
        if copy.values:
            theirs.apply(copy)
            yield f"Copied into {copy.target}"
