"""`agent kill`: end a background session at once, with what it had started."""

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
    app.command(name="kill")(kill)


def kill(id: Id) -> None:
    """Kill a session in the background at once, and the commands that it had started.

    agent --resume goes on with it.
    """
    require_person(os.environ)
    home = own_home(os.environ)
    record = find(home, id, time.time()).record
    ending.kill(home, record)
    tell(f"{record.id[:SHORT]} was killed. agent --resume {record.id} goes on with it.")
