"""Runs one command in the sandbox on our own terminal: same input, output and exit code."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from gatewright.permissions.sandbox.confinement import Sandbox
from gatewright.tools.protocol import SpawnRequest

_PASSED = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


def run(
    sandbox: Sandbox, argv: Sequence[str], cwd: Path, env: Mapping[str, str]
) -> tuple[int, list[str]]:
    """The exit code, and what had to be moved aside. A signal to us ends the command."""
    told: list[str] = []
    request = sandbox.confine(SpawnRequest(argv=tuple(argv), cwd=cwd, env=env), told.extend)
    assert request.ended is not None
    try:
        child = subprocess.Popen(
            request.argv, cwd=request.cwd, env=request.env, pass_fds=request.fds
        )
    except OSError:
        request.ended()
        raise
    stopped: list[int] = []

    def stop(number: int, _frame: object) -> None:
        stopped.append(number)
        child.kill()

    before = {number: signal.signal(number, stop) for number in _PASSED}
    try:
        code = child.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        request.ended()
    if stopped:
        return 128 + stopped[0], told
    return (code if code >= 0 else 128 - code), told
