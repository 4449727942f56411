"""Writes to a terminal that may be slower than what is painted.

A kernel holds many seconds of output for a slow reader, and only a full buffer shows that it does.
Then the speed is measured, what waits is thrown away because it is old, and all is painted anew.
"""

from __future__ import annotations

import contextlib
import logging
import os
import termios
import time
from collections.abc import Callable

log = logging.getLogger(__name__)

GRACE = 0.1  # seconds in which a full line takes what only moves on within the kernel
MEASURE = 0.6  # seconds after which its speed is known
NOTHING = 1.2  # seconds after which a line that takes nothing is not only interrupted
SLOW = 20_000.0  # bytes per second below which what waits is thrown away
SOON, LATE = 0.005, 0.05  # seconds between two tries, at first and later
LAST = 20.0  # seconds in which the last bytes, which give the terminal back, may leave
# Ends a sequence that was cut, its look, and what a paint sets for its own time.
FRESH = b"\x18\x1b\\\x1b[0m\x1b[?7h\x1b[r"


class Wire:
    """A file for the thread that writes; `fd` does not block."""

    def __init__(self, fd: int, on_slow: Callable[[float], None]) -> None:
        self._fd = fd
        self._on_slow = on_slow
        self._cut = False
        self._gone = False
        self._slow = False  # it was so once
        self._full = 0.0  # since when the line is full, over as many writes as it takes
        self._taken = 0  # bytes since then, but for the grace
        self.last = False  # what is written now gives the terminal back: nothing is left out

    def write(self, text: str) -> int:
        data = memoryview(text.encode("utf-8", "replace"))
        if self._cut:
            self._cut = False
            data = memoryview(FRESH + bytes(data))
        self._send(data)
        return len(text)

    def _send(self, data: memoryview) -> None:
        waited = False
        while data:
            try:
                sent = os.write(self._fd, data)
            except BlockingIOError:
                waited = True
                seconds = self._seconds_full()
                if self._too_slow(seconds):
                    return
                time.sleep(SOON if seconds < LATE else LATE)
            except OSError as error:
                if not self._gone:
                    log.warning("the terminal is gone: %s", error)
                self._gone = True
                return
            else:
                data = data[sent:]
                if self._full and self._seconds_full() > GRACE:
                    self._taken += sent
        if not waited:
            self._full = 0.0

    def _seconds_full(self) -> float:
        now = time.monotonic()
        if not self._full:
            self._full, self._taken = now, 0
        return now - self._full

    def _too_slow(self, seconds: float) -> bool:
        """Whether the rest is not worth sending any more."""
        if self.last:
            return seconds > LAST
        pace = self._taken / max(seconds - GRACE, GRACE)
        if seconds < (MEASURE if pace else NOTHING) or pace > SLOW:
            return False
        self._full = 0.0
        self._slow = True
        self._drop()
        self._on_slow(pace)
        return True

    def finish(self) -> None:
        """What follows gives the terminal back; what a slow one was still to show is left out."""
        self.last = True
        if self._slow:
            self._drop()

    def _drop(self) -> None:
        with contextlib.suppress(termios.error):
            termios.tcflush(self._fd, termios.TCOFLUSH)
        self._cut = True

    def flush(self) -> None:
        """Nothing is held back here."""

    def fileno(self) -> int:
        return self._fd

    def close(self) -> None:
        os.close(self._fd)


def open_wire(fd: int, on_slow: Callable[[float], None]) -> Wire | None:
    """The terminal behind a descriptor opened once more, so that not blocking is ours alone."""
    try:
        again = os.open(os.ttyname(fd), os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:  # its name is of another namespace
        return None
    return Wire(again, on_slow)
