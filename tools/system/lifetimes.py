"""Which process something belongs to, and whether it still lives: an id alone is given out again.

Standard library and msgspec only.
"""

from __future__ import annotations

import os

import msgspec

from gatewright.tools.system.sweep import started_at


class Lifetime(msgspec.Struct, frozen=True):
    """A process by its id and the moment it began, as the kernel counts; no id is nobody."""

    pid: int = 0
    start: str = ""

    def lives(self) -> bool:
        """Where start times cannot be seen, an id that is in use counts as that very process."""
        if self.pid <= 0:
            return False
        if now := started_at(self.pid):
            return not self.start or now == self.start
        return not os.path.isdir("/proc/self") and _in_use(self.pid)  # noqa: PTH112

    def is_us(self) -> bool:
        return self.pid == os.getpid() and self.start == started_at(self.pid)


def ours() -> Lifetime:
    return Lifetime(os.getpid(), started_at(os.getpid()))


def _in_use(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
