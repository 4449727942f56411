"""How the process of a background session begins: it becomes what the pipe says, and no more."""

from __future__ import annotations

import os

from gatewright.agent.autonomy.running.launch import Launch, told
from gatewright.agent.autonomy.running.person import require_person


def entered() -> Launch:
    """Its environment and directory are those of who began it. Raises GatewrightError."""
    launch = told(0)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.environ.clear()
    os.environ.update(launch.env)
    require_person(os.environ)
    os.chdir(launch.at or launch.cwd)
    return launch
