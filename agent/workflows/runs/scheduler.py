"""Which call begins next: so many agents at once in a session, one run after the other.

Calls that share what their servers cache are held until the first of them is being answered, so
that the others read what it wrote; never for long.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Literal

import msgspec

HELD = 5.0  # seconds that others wait for the first one's answer
WARM = 240.0  # seconds after which a prefix may be gone from the caches


class Turn(msgspec.Struct, eq=False):
    """A call that waits to begin; `begin` is called once, when it may."""

    run: str
    prefix: str
    begin: Callable[[], object]
    number: int = 0


class _Line:
    """The calls of one run that wait, by what they share; each in its order."""

    def __init__(self) -> None:
        self.waiting: dict[str, deque[Turn]] = {}
        self.paused = False

    def next(self, held: Callable[[str], bool]) -> Turn | None:
        """The first of those that are not held, and no longer waiting."""
        if self.paused:
            return None
        free = [turns for prefix, turns in self.waiting.items() if not held(prefix)]
        if not free:
            return None
        turn = min(free, key=lambda turns: turns[0].number).popleft()
        if not self.waiting[turn.prefix]:
            del self.waiting[turn.prefix]
        return turn


class _Prefix(msgspec.Struct):
    state: Literal["warming", "warm"]
    since: float
    timer: asyncio.TimerHandle | None = None


class Scheduler:
    """Places are counted here alone; whoever began gives its place back."""

    def __init__(self, most: Callable[[], int], loop: asyncio.AbstractEventLoop) -> None:
        self._most, self._loop = most, loop
        self._lines: dict[str, _Line] = {}
        self._order: deque[str] = deque()  # of runs: who had a turn goes behind
        self._prefixes: dict[str, _Prefix] = {}
        self._number = 0
        self.taken = 0

    def put(self, turn: Turn) -> None:
        line = self._line(turn.run)
        self._number += 1
        turn.number = self._number
        line.waiting.setdefault(turn.prefix, deque()).append(turn)
        self._fill()

    def give(self) -> None:
        """A call that began is over."""
        self.taken -= 1
        self._fill()

    def begins(self, prefix: str) -> None:
        """An answer to a request with this prefix has begun, or none will come."""
        known = self._prefixes.get(prefix)
        if known is None or known.state == "warm":
            return
        if known.timer is not None:
            known.timer.cancel()
        self._prefixes[prefix] = _Prefix("warm", self._loop.time())
        self._fill()

    def held(self, prefix: str) -> bool:
        known = self._prefixes.get(prefix)
        return known is not None and known.state == "warming"

    def pause(self, run: str, *, on: bool) -> None:
        self._line(run).paused = on
        self._fill()

    def drop(self, run: str) -> None:
        """Nothing of this run begins any more."""
        if self._lines.pop(run, None) is not None:
            self._order.remove(run)

    def waiting(self, run: str) -> int:
        line = self._lines.get(run)
        return sum(map(len, line.waiting.values())) if line is not None else 0

    def _line(self, run: str) -> _Line:
        if (known := self._lines.get(run)) is None:
            known = self._lines[run] = _Line()
            self._order.append(run)
        return known

    def _fill(self) -> None:
        while self.taken < self._most() and (turn := self._next()) is not None:
            self.taken += 1
            self._warms(turn.prefix)
            turn.begin()

    def _next(self) -> Turn | None:
        for _ in range(len(self._order)):
            run = self._order[0]
            self._order.rotate(-1)
            if (turn := self._lines[run].next(self.held)) is not None:
                return turn
        return None

    def _warms(self, prefix: str) -> None:
        """The first of a prefix for long keeps the others waiting."""
        now, known = self._loop.time(), self._prefixes.get(prefix)
        if known is not None and (known.state == "warming" or now - known.since < WARM):
            known.since = now
            return
        timer = self._loop.call_later(HELD, self.begins, prefix)
        self._prefixes[prefix] = _Prefix("warming", now, timer)

    def close(self) -> None:
        for each in self._prefixes.values():
            if each.timer is not None:
                each.timer.cancel()
        self._lines.clear()
        self._order.clear()
