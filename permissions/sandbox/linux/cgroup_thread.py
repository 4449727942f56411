"""A thread in a control group of its own, from which root's commands are started.

Joining a group costs up to ten milliseconds each time; a process started by a member is one from
the beginning. Only this thread joins: what we start elsewhere is neither limited nor counted.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

Made = TypeVar("Made")
_TRIES = 30
_OWN = 4  # this thread, bubblewrap twice, and what sets the limits


class Nursery:
    """Start children through `start`; all that are alive count together."""

    def __init__(self, base: str, nproc: int) -> None:
        self.group = Path(base) / f"gatewright-{os.getpid()}-{threading.get_native_id()}"
        self.group.mkdir(exist_ok=True)
        self.allow(nproc)
        self._thread = ThreadPoolExecutor(1, "nursery", initializer=self._join)
        self._thread.submit(int)  # joins now, while other things are prepared

    def allow(self, nproc: int) -> None:
        """So many at once, those that run already among them; 0: as many as they like."""
        text = str(nproc + _OWN) if nproc else "max"
        (self.group / "pids.max").write_text(text, encoding="ascii")

    def _join(self) -> None:
        (self.group / "tasks").write_text(str(threading.get_native_id()), encoding="ascii")

    def start(self, begin: Callable[[], Made]) -> Made:
        """Call `begin` in the group and return what it returns."""
        return self._thread.submit(begin).result()

    def close(self) -> bool:
        """Whether the group is gone: a thread that ended is a member for a moment longer."""
        self._thread.shutdown()
        for _ in range(_TRIES):
            with suppress(OSError):
                self.group.rmdir()
                return True
            time.sleep(0.001)
        return False


def nursery(base: str, nproc: int) -> Nursery | None:
    """None where threads cannot be members by themselves, or we may make no group."""
    if not base or not nproc or not (Path(base) / "tasks").exists():
        return None
    try:
        return Nursery(base, nproc)
    except OSError:
        return None
