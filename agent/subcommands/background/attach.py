"""`agent attach`: the normal screen over a session that runs in the background."""

from __future__ import annotations

from typing import Annotated

import typer

from gatewright.agent.launch import screens
from gatewright.agent.subcommands.background.attach_target import visit

Id = Annotated[str, typer.Argument(help="Its id, a part of it, or words of its title.")]


def register(app: typer.Typer) -> None:
    app.command(name="attach")(attach)


def attach(id: Id) -> None:
    """Show a session that runs in the background, and work with it.

    Ctrl+D and /exit leave it running; /stop ends it. One that was interrupted can go on.
    """
    raise typer.Exit(screens.attach(*visit(id)))
