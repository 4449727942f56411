"""Word from another process that an agent is to stop: a file beside its conversation.

It is looked for at what the agent does, once a second at most; who is idle wakes nobody.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

SUFFIX = ".stop"
BETWEEN = 1.0


def mark_of(folder: Path, id: str) -> Path:
    return folder / f"{id}{SUFFIX}"


class StopMarks:
    def __init__(self, folder: Path, clock: Callable[[], float]) -> None:
        self._folder, self._clock = folder, clock
        self._looked: dict[str, float] = {}

    def asks(self, agent: str) -> bool:
        """Whether somebody asked for this one; said once."""
        now = self._clock()
        if now - self._looked.get(agent, -BETWEEN) < BETWEEN:
            return False
        self._looked[agent] = now
        mark = mark_of(self._folder, agent.rpartition("/")[2])
        if not mark.exists():
            return False
        with suppress(OSError):
            mark.unlink()
        return True

    def forget(self, agent: str) -> None:
        """It has ended: what was asked later is about no other run."""
        self._looked.pop(agent, None)
        with suppress(OSError):
            mark_of(self._folder, agent.rpartition("/")[2]).unlink(missing_ok=True)
