"""The session that `agent attach` is to show, found before there is a screen."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from gatewright.agent.autonomy.running.attaching import Attaching, Visit
from gatewright.agent.errors import GatewrightError

if TYPE_CHECKING:
    from gatewright.agent.settings.groups.autonomy_settings import Bg

NO_TERMINAL = "agent attach needs a terminal: agent logs {id} prints what the session says."


def visit(wanted: str) -> tuple[Visit, Attaching]:
    """Raises GatewrightError."""
    if not (os.isatty(0) and os.isatty(1)):
        raise GatewrightError(NO_TERMINAL.format(id=wanted))
    made = Visit(os.environ, _limits)
    return made, made.find(wanted)


def _limits() -> Bg:
    """How many may run: asked for where one is begun again."""
    from gatewright.agent.subcommands.place import here  # noqa: PLC0415  lazy: 20 ms

    return here().loaded.settings.bg
