"""How fast the line to the terminal is, and when what was written to it has arrived.

A serial line says its speed; that of others is known for a while after `wire` measured it.
"""

from __future__ import annotations

import termios
import time
from collections.abc import Callable

SPEEDS = {
    termios.B300: 300,
    termios.B1200: 1200,
    termios.B2400: 2400,
    termios.B4800: 4800,
    termios.B9600: 9600,
    termios.B19200: 19200,
}
BITS = 10  # of a byte on the line
LAG = 0.2  # seconds of output on its way before painting waits
FROZEN = 960.0  # bytes per second to go on with where nothing was taken at all
KEEPS = 60.0  # seconds for which a measured speed counts
GROWS = 3.0  # seconds after which it doubles: the line may have been interrupted, not slow
FREE = 30_000.0  # bytes per second from which nothing has to be held back
LEFT = 4096  # bytes that are on their way although what waited was thrown away


class Baud:
    """Counts what is written; a line of unknown speed is not behind."""

    def __init__(self, fd: int, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._now = monotonic
        self._there = 0.0  # when everything written so far has arrived
        self._pace = 0.0  # bytes per second; 0: as fast as it likes
        self._until = 0.0  # when a measured pace is forgotten; 0: never
        self._grows = 0.0  # when it doubles; 0: never
        try:
            speed = termios.tcgetattr(fd)[5]
        except termios.error:
            return
        self._pace = SPEEDS.get(speed, 0) / BITS

    @property
    def slow(self) -> bool:
        """It is known to be a slow line."""
        return self._pace > 0.0

    def count(self, text: str) -> None:
        if self._pace:
            size = len(text.encode("utf-8", "replace"))
            self._there = max(self._there, self._now()) + size / self._pace

    def measured(self, pace: float) -> None:
        """The line was full, and what waited is thrown away. The second time it is believed."""
        now = self._now()
        self._grows = 0.0 if now < self._until else now + GROWS
        self._until = now + KEEPS
        self._pace = pace or FROZEN
        self._there = now + LEFT / self._pace

    @property
    def behind(self) -> bool:
        now = self._now()
        if self._grows and now > self._grows:
            self._pace *= 2
            self._grows = now + GROWS
        if self._until and (now > self._until or self._pace > FREE):
            self._pace = self._until = self._grows = self._there = 0.0
        return self._there - now > LAG
