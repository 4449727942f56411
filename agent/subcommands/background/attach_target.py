"""The session that `agent attach` is to show, found before there is a screen."""

from __future__ import annotations

import os

from gatewright.agent.autonomy.running.attaching import Attaching, Visit
from gatewright.agent.errors import GatewrightError
from gatewright.agent.launch.screens import limits

NO_TERMINAL = "agent attach needs a terminal: agent logs {id} prints what the session says."


def visit(wanted: str) -> tuple[Visit, Attaching]:
    """Raises GatewrightError."""
    if not (os.isatty(0) and os.isatty(1)):
        raise GatewrightError(NO_TERMINAL.format(id=wanted))
    made = Visit(os.environ, limits)
    return made, made.find(wanted)
