"""Whether the processes of a sandbox did anything between two moments, as the kernel counts it.

What slept all the time made nothing: no process can take back that it was switched in.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TypeAlias

MOST = 300  # threads; of more than that nothing is known
_PROC = Path("/proc")
_TICKS = os.sysconf("SC_CLK_TCK")  # a second, in which the kernel says when something began
_COUNTS = frozenset({"voluntary_ctxt_switches", "nonvoluntary_ctxt_switches"})

# Each thread by process and number, when it began (a number comes round again when enough others
# have come and gone), and how often it was switched away from.
Asleep: TypeAlias = frozenset[tuple[int, int, int, int]]


def asleep(inits: Iterable[int]) -> Asleep | None:
    """All threads below these first processes; None when one of them runs or cannot be seen.

    Two answers that are equal say that none of them ran in between. One that began in this tick
    cannot be told from another that gets its number before the tick is over: nothing is known yet.
    """
    ticks = int(time.clock_gettime(time.CLOCK_BOOTTIME) * _TICKS)
    found: set[tuple[int, int, int, int]] = set()
    queue = list(inits)
    try:
        while queue:
            process = queue.pop()
            threads = os.listdir(_PROC / str(process) / "task") if process > 0 else ()
            if not threads:
                return None
            for thread in threads:
                here = _PROC / str(process) / "task" / thread
                switches = _switches((here / "status").read_text(encoding="utf-8"))
                began = _began((here / "stat").read_bytes())
                if switches < 0 or began >= ticks or len(found) >= MOST:
                    return None
                found.add((process, int(thread), began, switches))
                queue.extend(map(int, (here / "children").read_text(encoding="utf-8").split()))
    except (OSError, ValueError, IndexError):
        return None
    return frozenset(found) or None


def _began(stat: bytes) -> int:
    """The moment in ticks since the machine started; a name in it may hold what it likes."""
    return int(stat.rpartition(b")")[2].split()[19])


def _switches(status: str) -> int:
    """How often the thread gave way in its life; negative while it runs or where none is told."""
    rows: dict[str, str] = {}
    for line in status.splitlines():
        name, _, value = line.partition(":")
        rows[name] = value.strip()
    counts = [int(value) for name, value in rows.items() if name in _COUNTS]
    runs = rows.get("State", "R").startswith("R")
    return -1 if runs or len(counts) != len(_COUNTS) else sum(counts)
