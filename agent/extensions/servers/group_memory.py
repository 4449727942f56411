"""How much memory a process group holds, as the kernel says it."""

from __future__ import annotations

import os

from gatewright.tools.system.sweep import group_members

_PAGE = os.sysconf("SC_PAGE_SIZE")


def resident(leader: int) -> int:
    """Bytes in memory of its group, what they share counted for each; 0 where nobody says it."""
    return sum(map(_pages, {leader, *group_members(leader)})) * _PAGE if leader > 0 else 0


def _pages(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/statm", "rb", buffering=0) as file:  # noqa: PTH123  as sweep does
            return int(file.read().split()[1])
    except (OSError, ValueError, IndexError):  # it has ended
        return 0
