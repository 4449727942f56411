"""Control groups for root, whom process limits do not bind.

Each run has groups of its own, or is started by a thread that is in one: joining costs up to ten
milliseconds each time, and a process started by a member is one from the beginning. Only that
thread joins: what we start elsewhere is neither limited nor counted.
"""

from __future__ import annotations

import itertools
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from gatewright.permissions.sandbox.limits import Limits
from gatewright.permissions.sandbox.machine import Machine

Made = TypeVar("Made")
_OWN = 6  # bubblewrap, its init, the limit setter and the like count too
_THREAD = 4  # that thread, bubblewrap twice, and what sets the limits
_TRIES = 30
_numbers = itertools.count(1)


def make_groups(limits: Limits, machine: Machine, *, counted: bool) -> tuple[str, ...]:
    """The groups a run is to join; `counted` when its processes are counted elsewhere."""
    name = f"gatewright-{os.getpid()}-{next(_numbers)}"
    groups: list[str] = []
    if machine.pids and limits.nproc and not counted:
        groups.extend(_make(machine.pids, name, {"pids.max": limits.nproc + _OWN}))
    if machine.memory and limits.memory:
        known = (Path(machine.memory) / "memory.limit_in_bytes").exists()
        file = "memory.limit_in_bytes" if known else "memory.max"
        groups.extend(_make(machine.memory, name, {file: limits.memory}))
    return tuple(dict.fromkeys(groups))


def _make(base: str, name: str, values: dict[str, int]) -> list[str]:
    place = Path(base) / name
    try:
        place.mkdir(exist_ok=True)
        for file, value in values.items():
            (place / file).write_text(str(value), encoding="ascii")
    except OSError:
        with suppress(OSError):
            place.rmdir()
        return []
    return [str(place)]


def joined(argv: list[str], groups: tuple[str, ...], shell: str) -> list[str]:
    """`argv` started as a member of the groups; a shell joins, then becomes the program."""
    if not groups:
        return argv
    lines = " && ".join(f"echo $$ > '{group}/cgroup.procs'" for group in groups)
    return [shell, "-c", f'{lines} && exec "$@"', "sh", *argv]


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
        text = str(nproc + _THREAD) if nproc else "max"
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
