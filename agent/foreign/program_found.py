"""The program of a definition: where it lies, and what it is given."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from gatewright.agent.agents.kind import Program
from gatewright.agent.errors import SessionError
from gatewright.tools.system.patterns import later
from gatewright.tools.system.programs import find

_VARIABLE = later(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def program_of(program: Program, env: Mapping[str, str], avoid: Iterable[Path]) -> str:
    """Its path: of a name by PATH, never in the project; empty where there is none."""
    command = program.command
    if "/" not in command:
        return find(command, env, avoid)
    path = os.path.expanduser(command) if command.startswith("~/") else command  # noqa: PTH111  text in, text out
    runs = path.startswith("/") and os.path.isfile(path) and os.access(path, os.X_OK)  # noqa: PTH113
    return path if runs else ""


def lacks(program: Program, env: Mapping[str, str], avoid: Iterable[Path]) -> str:
    """Why it cannot be started; empty where it can."""
    if program_of(program, env, avoid):
        return ""
    how = "is no program at a whole path" if "/" in program.command else "is not found in PATH"
    return f"acp: its program {program.command[:200]} {how}: install it, or name its path"


def given(program: Program, env: Mapping[str, str]) -> dict[str, str]:
    """Its own variables, `${NAME}` from ours. Raises SessionError for one that is not there."""
    return {name: _filled(name, text, env) for name, text in program.env.items()}


def _filled(name: str, text: str, env: Mapping[str, str]) -> str:
    for found in _VARIABLE.finditer(text):
        if found[1] not in env:
            raise SessionError(f"acp.env: {name} needs the variable {found[1]}, which is not set.")
    return _VARIABLE.sub(lambda found: env[found[1]], text)
