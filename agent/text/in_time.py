"""Work over what others wrote that may take a lifetime, as a pattern or a schema can.

Only a signal gets such work to stop, and only in the main thread.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import TypeVar

T = TypeVar("T")


class Late(Exception):
    """It came to no end."""


def in_time(work: Callable[[], T], most: float) -> T:
    """What it gives. Raises Late after so many seconds of the processor, in the main thread."""
    if threading.current_thread() is not threading.main_thread():
        return work()
    before = signal.signal(signal.SIGVTALRM, _late)
    try:
        try:
            signal.setitimer(signal.ITIMER_VIRTUAL, most)
            return work()
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    finally:
        signal.signal(signal.SIGVTALRM, before)


def _late(number: int, frame: FrameType | None) -> None:
    del number, frame
    raise Late
