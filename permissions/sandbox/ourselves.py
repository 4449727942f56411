"""Programs that we start for ourselves, confined: they write what they are given, and that is all.

A second wall: what runs so is chosen by us and takes no settings of a project, but what it reads
is anybody's. Where nothing can be confined, they run as they are.
"""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path

_OPTIONS = (
    "--ro-bind", "/", "/", "--dev", "/dev", "--tmpfs", "/proc", "--unshare-all",
    "--cap-drop", "ALL", "--new-session", "--die-with-parent",
)  # fmt: skip
SECONDS = 5.0


class Ourselves:
    """Turns a command line into a confined one. Found out at the first, and once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._launcher: str | None = None

    def __call__(self, argv: Sequence[str], writable: Sequence[Path]) -> Sequence[str]:
        launcher = self._found()
        if not launcher:
            return argv
        binds = [word for path in writable for word in ("--bind", str(path), str(path))]
        return [launcher, *_OPTIONS, *binds, "--", *argv]

    def _found(self) -> str:
        with self._lock:
            if self._launcher is None:
                from gatewright.permissions.sandbox.machine import (  # noqa: PLC0415  lazy: 2 ms
                    find_bwrap,
                )

                launcher = find_bwrap()
                self._launcher = launcher if launcher and _works(launcher) else ""
            return self._launcher


def _works(launcher: str) -> bool:
    try:
        done = subprocess.run(
            [launcher, *_OPTIONS, "--", "/bin/true"],
            env={}, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
