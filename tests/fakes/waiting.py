"""How tests wait: for a fact with a limit, or for a fact that has to last. Nothing else sleeps.

Both look again every few milliseconds, for facts that nobody announces: files, processes, lists
that a plain callback fills.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

EVERY = 0.01  # seconds between two looks
# Seconds that a test waits for what must come. Only what hangs meets it, so it is long: a busy
# machine is slow everywhere at once. Below the limit of a test, so that it says what did not come.
PATIENCE = 40.0

Fact = Callable[[], bool]


def until(fact: Fact, within: float = PATIENCE, *, what: str = "what was waited for") -> None:
    end = time.monotonic() + within
    while not fact():
        assert time.monotonic() < end, f"{what} did not come within {within} s"
        time.sleep(EVERY)


async def eventually(
    fact: Fact, within: float = PATIENCE, *, what: str = "what was waited for"
) -> None:
    """The same, while the loop goes on."""
    end = time.monotonic() + within
    while not fact():
        assert time.monotonic() < end, f"{what} did not come within {within} s"
        await asyncio.sleep(EVERY)


def comes(fact: Fact, within: float = PATIENCE) -> bool:
    """Whether it came, for tests that say themselves what it means if it does not."""
    end = time.monotonic() + within
    while not (came := fact()) and time.monotonic() < end:
        time.sleep(EVERY)
    return came


def lasts(fact: Fact, seconds: float) -> bool:
    """Whether it holds all that time: looked at throughout, and once more at the end."""
    return not comes(lambda: not fact(), seconds)


async def lasting(fact: Fact, seconds: float) -> bool:
    """The same, while the loop goes on."""
    end = time.monotonic() + seconds
    while (holds := fact()) and time.monotonic() < end:  # noqa: ASYNC110  nobody announces it
        await asyncio.sleep(EVERY)
    return holds


def written(path: Path, within: float = PATIENCE) -> str:
    """The text of a file that another process writes, once there is any."""
    until(lambda: _has_text(path), within, what=path.name)
    return path.read_text(encoding="utf-8").strip()


async def being_written(path: Path, within: float = PATIENCE) -> str:
    """The same, while the loop goes on."""
    await eventually(lambda: _has_text(path), within, what=path.name)
    return path.read_text(encoding="utf-8").strip()


def _has_text(path: Path) -> bool:
    return path.exists() and bool(path.read_text(encoding="utf-8").strip())
