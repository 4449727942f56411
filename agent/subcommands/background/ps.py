"""`agent ps`: what runs in the background, and what it is at."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from gatewright.agent.launch import screens
from gatewright.agent.settings.paths import own_home
from gatewright.agent.subcommands.background.attach_target import visits
from gatewright.agent.subcommands.background.sessions_shown import show

All = Annotated[bool, typer.Option("--all", help="Also what has ended.")]
AsJson = Annotated[bool, typer.Option("--json", help="As JSON, with all that is known.")]

Table = Annotated[bool, typer.Option("--interactive", "-i", help="In a table on the screen.")]


def register(app: typer.Typer) -> None:
    app.command(name="ps")(ps)


def ps(all_: All = False, as_json: AsJson = False, table: Table = False) -> None:
    """List sessions in the background: working, needs you, idle, done, failed.

    With --all also those that were stopped, interrupted or are over; with -i in a table on the
    screen, from which each can be looked into, answered, attached and stopped.
    """
    if table:
        raise typer.Exit(screens.choose(visits()))
    show(own_home(os.environ), all_=all_, as_json=as_json)
