"""`agent stop`: end a background session in order."""

from __future__ import annotations

import os
import time
from typing import Annotated

import typer

from gatewright.agent.autonomy.running import ending
from gatewright.agent.autonomy.running.known_sessions import SHORT, find
from gatewright.agent.autonomy.running.person import require_person
from gatewright.agent.settings.paths import own_home
from gatewright.agent.subcommands.tell import tell

Id = Annotated[str, typer.Argument(help="Its id, a part of it, or words of its title.")]


def register(app: typer.Typer) -> None:
    app.command(name="stop")(stop)


def stop(id: Id) -> None:
    """Stop a session in the background: its turn ends, and all of it is kept.

    agent --resume goes on with it.
    """
    require_person(os.environ)
    home = own_home(os.environ)
    record = find(home, id, time.time()).record
    ending.stop(home, record)
    tell(f"{record.id[:SHORT]} has stopped. agent --resume {record.id} goes on with it.")
