"""How fast a serial line says it is, and when what was written to it has arrived.

Other terminals name a speed too, always the same one, that means nothing.
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


class Baud:
    """Counts what is written; a line of unknown speed is never behind."""

    def __init__(self, fd: int, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._now = monotonic
        self._there = 0.0  # when everything written so far has arrived
        self._pace = 0.0  # bytes per second
        try:
            speed = termios.tcgetattr(fd)[5]
        except termios.error:
            return
        self._pace = SPEEDS.get(speed, 0) / BITS

    def count(self, text: str) -> None:
        if self._pace:
            size = len(text.encode("utf-8", "replace"))
            self._there = max(self._there, self._now()) + size / self._pace

    @property
    def behind(self) -> bool:
        return self._there - self._now() > LAG
