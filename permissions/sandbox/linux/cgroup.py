"""Control groups for root, whom process limits do not bind. Each run has groups of its own."""

from __future__ import annotations

import itertools
import os
from contextlib import suppress
from pathlib import Path

from gatewright.permissions.sandbox.limits import Limits
from gatewright.permissions.sandbox.machine import Machine

_OWN = 6  # bubblewrap, its init, the limit setter and the like count too
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
