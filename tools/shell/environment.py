"""How shell commands are started: by which bash, and in which environment.

That has no pagers, prompts or colours, and no secrets.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

from gatewright.tools.protocol import SpawnRequest, ToolContext
from gatewright.tools.system.programs import ACTIVATED, find
from gatewright.tools.system.secrets import Secrets

_File: TypeAlias = tuple[str, int, int] | None
_FIXED = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_PAGER": "cat",
    "PAGER": "cat",
    "TERM": "dumb",
    "NO_COLOR": "1",
    "GATEWRIGHT": "1",
}
# What a shell runs first, or what makes a judged command mean something else (cd by CDPATH).
_SHELL_CODE = frozenset({"BASH_ENV", "ENV", "PROMPT_COMMAND", "SHELLOPTS", "BASHOPTS", "PS4"}) | {
    "CDPATH",
    "GLOBIGNORE",
    "EXECIGNORE",
    "BASH_XTRACEFD",
}


class BashFinder:
    """Finds the bash of a call: the one of before, for as long as that is the same file there."""

    def __init__(self) -> None:
        self._known: tuple[object, str, _File] | None = None

    def __call__(self, ctx: ToolContext) -> str:
        where, env = ctx.where, ctx.env
        roots = (where.root, where.cwd, *where.added)
        key = (roots, env.get("PATH"), env.get("HOME"), *(env.get(name) for name in ACTIVATED))
        if self._known is not None:
            before, program, file = self._known
            if before == key and file is not None and file == _file(program):
                return program
        program = find("bash", env, roots) or "/bin/bash"
        self._known = key, program, _file(program)
        return program


def _file(path: str) -> _File:
    """Where it really lies, and which file it is."""
    with suppress(OSError):
        status = Path(path).stat()
        return os.path.realpath(path), status.st_dev, status.st_ino
    return None


def scripted(program: str, cwd: Path, env: Mapping[str, str], script: str) -> SpawnRequest:
    """What starts this bash with that script, and nothing of the person's before it."""
    argv = (program, "--noprofile", "--norc", "-c", script)
    return SpawnRequest(argv=argv, cwd=cwd, env=env, script=True)


def child_environment(base: Mapping[str, str], secrets: Secrets) -> dict[str, str]:
    """What a command sees of `base`: without secrets and without code a shell would run first."""
    kept = {
        name: value
        for name, value in secrets.given(base).items()
        if not (name in _SHELL_CODE or _function(name))
    }
    return {**kept, **_FIXED, **_safe_git(base)}


def _function(name: str) -> bool:
    return name.startswith("BASH_FUNC_")


def _safe_git(base: Mapping[str, str]) -> dict[str, str]:
    """A repository planted inside the work tree may not bring its own configuration."""
    count = base.get("GIT_CONFIG_COUNT", "0")
    at = int(count) if count.isdecimal() else 0
    return {
        "GIT_CONFIG_COUNT": str(at + 1),
        f"GIT_CONFIG_KEY_{at}": "safe.bareRepository",
        f"GIT_CONFIG_VALUE_{at}": "explicit",
    }
