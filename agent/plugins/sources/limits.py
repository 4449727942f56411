"""How much a source may bring and how long that may take, and how a refusal is told."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Final, TypeVar

import msgspec

from gatewright.agent.errors import GatewrightError

T = TypeVar("T")
SECONDS: Final = 120.0
BYTES: Final = 200 * 1024 * 1024
FILES: Final = 20_000  # directories and links count too


class SourceError(GatewrightError):
    """Nothing came of it; its text says which rule it broke or what failed."""


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    seconds: float = SECONDS
    bytes: int = BYTES
    files: int = FILES

    @property
    def amount(self) -> str:
        """For people."""
        return f"{self.bytes / 1024 / 1024:.0f} MiB"


class Clock:
    """The time that is left of one fetch; who waits no longer ends it."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._ends = time.monotonic() + limits.seconds
        self._stopped = False

    def stop(self) -> None:
        self._stopped = True

    def left(self) -> float:
        """Seconds. Raises SourceError where there are none."""
        seconds = self._ends - time.monotonic()
        if self._stopped:
            raise SourceError("It was stopped.")
        if seconds <= 0:
            raise SourceError(f"It took longer than {self.limits.seconds:.0f} s.")
        return seconds


async def aside(work: Callable[[], T], clock: Clock) -> T:
    """Work in a thread. When nobody waits for it any more it ends at its next look at the clock,
    and has ended on return.
    """
    task = asyncio.create_task(asyncio.to_thread(work))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        clock.stop()
        await asyncio.wait([task])
        task.exception()  # nobody wants to know
        raise
