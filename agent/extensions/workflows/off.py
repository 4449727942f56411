"""Whether there are workflows at all: the one answer for the tool, the commands and the keyword."""

from __future__ import annotations

from gatewright.agent.settings.workspace import Surroundings

VARIABLE = "GATEWRIGHT_DISABLE_WORKFLOWS"


def workflows_off(around: Surroundings) -> bool:
    settings = around.settings
    off = settings.disable_workflows or not settings.workflows.enabled
    return off or around.env.get(VARIABLE, "") not in ("", "0")
