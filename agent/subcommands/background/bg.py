"""`agent bg`: sessions that work without a terminal."""

from __future__ import annotations

import os
import time
from typing import Annotated

import typer

from gatewright.agent.autonomy.running.known_sessions import forget, look
from gatewright.agent.autonomy.running.person import require_person
from gatewright.agent.settings.paths import own_home
from gatewright.agent.subcommands.background.beginning_bg import begin
from gatewright.agent.subcommands.tell import tell

AS_GIVEN = {"ignore_unknown_options": True, "allow_interspersed_args": False}
HERE = "Work in this checkout, whoever else does."
Words = Annotated[list[str], typer.Argument(help="The prompt and flags, as agent takes them.")]
Here = Annotated[bool, typer.Option("--here", help=HERE)]


def register(app: typer.Typer) -> None:
    app.command(name="bg", context_settings=AS_GIVEN)(bg)


def bg(words: Words, here: Here = False) -> None:
    """Begin a session in the background; `agent bg clean` forgets those that ended.

    It takes the flags of agent itself, such as --model and --permission-mode. agent ps lists them.
    """
    require_person(os.environ)
    if words == ["clean"]:
        clean()
    else:
        begin([*words, *(["--here"] if here else [])])


def clean() -> None:
    """Forget what has ended; conversations stay."""
    home = own_home(os.environ)
    ended = [each.record.id for each in look(home, time.time()) if not each.live]
    for id in ended:
        forget(home, id)
    tell(f"Forgotten: {len(ended)}. Their conversations stay: agent sessions list.")
