"""Runs git for ourselves: bounded in time, and nothing of the repository's own can run in it."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

# A repository may come from anybody: its configuration must not start programs.
SAFE = (
    "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.pager=cat",
    "-c", "diff.external=", "-c", "safe.bareRepository=explicit", "-c", "core.sshCommand=false",
    "-c", "core.untrackedCache=false", "-c", "gc.auto=0", "-c", "protocol.allow=never",
)  # fmt: skip
ENV = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_PAGER": "cat",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",  # goes before what a repository allows itself; older gits need it
    "LC_ALL": "C",
}
PASSED = ("PATH", "HOME", "TMPDIR", "LANG")


def git_env(env: Mapping[str, str], extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Nothing of a surrounding git command (GIT_DIR, GIT_INDEX_FILE) gets through."""
    kept = {name: env[name] for name in PASSED if name in env}
    return {**kept, **ENV, **(extra or {})}


def run_git(
    arguments: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    limit: float,
    input: bytes = b"",
) -> bytes:
    """What it prints. Raises OSError when git is missing, fails or takes too long."""
    try:
        done = subprocess.run(
            ["git", *SAFE, *arguments],
            cwd=cwd, env=dict(env), input=input, capture_output=True, timeout=limit, check=True,
        )  # fmt: skip
    except (subprocess.SubprocessError, ValueError) as error:
        raise OSError(f"git {arguments[0]}: {error}") from error
    return done.stdout
