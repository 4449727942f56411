"""The session that `agent attach` is to show, found before there is a screen."""

from __future__ import annotations

import os

from gatewright.agent.autonomy.running.attaching import Attaching, Visit
from gatewright.agent.autonomy.running.person import require_person
from gatewright.agent.errors import GatewrightError
from gatewright.agent.launch.screens import limits

NO_TERMINAL = "This needs a terminal: agent ps lists sessions, agent logs ID prints what one says."


def visit(wanted: str) -> tuple[Visit, Attaching]:
    """Raises GatewrightError."""
    made = visits()
    return made, made.find(wanted)


def visits() -> Visit:
    """By which a screen gets to sessions in the background. Raises GatewrightError."""
    if not (os.isatty(0) and os.isatty(1)):
        raise GatewrightError(NO_TERMINAL)
    require_person(os.environ)
    return Visit(os.environ, limits)
