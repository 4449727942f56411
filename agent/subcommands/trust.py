"""`agent trust`: say, add or take back that a project's configuration may act."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from gatewright.agent.settings.paths import project_root
from gatewright.agent.settings.trust import trust_key
from gatewright.agent.subcommands.place import here, refuse_inside_session
from gatewright.agent.subcommands.tell import tell

HELP = "Which projects' own settings, hooks and servers may act."
Directory = Annotated[Path, typer.Argument(help="A directory of the project.")]

group = typer.Typer(help=HELP, no_args_is_help=True)


@group.command()
def status(directory: Directory = Path()) -> None:
    """Say whether the project is trusted; exit code 1 when it is not."""
    root = _root(directory)
    if here().trust.trusts(root):
        tell(f"{trust_key(root)} is trusted.")
        return
    tell(f"{trust_key(root)} is not trusted. agent trust add trusts it.")
    raise typer.Exit(1)


@group.command()
def add(directory: Directory = Path()) -> None:
    """Trust the project."""
    refuse_inside_session()
    tell(f"{here().trust.add(_root(directory))} is trusted from now on.")


@group.command()
def remove(directory: Directory = Path()) -> None:
    """Trust the project no longer."""
    refuse_inside_session()
    root = _root(directory)
    if here().trust.remove(root):
        tell(f"{trust_key(root)} is trusted no longer.")
    else:
        tell(f"{trust_key(root)} was not trusted.")


@group.command(name="list")
def list_() -> None:
    """List the trusted projects."""
    roots = tuple(here().trust.roots())
    for root in roots:
        tell(str(root))
    if not roots:
        tell("No project is trusted.", err=True)


def _root(directory: Path) -> Path:
    return project_root(directory.resolve(), os.environ)
