"""Runs blocking work in a thread to its end: a cancel waits for it instead of leaving it behind."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


async def finish(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """The result of `work`; when cancelled, CancelledError once the work is over."""
    running = asyncio.ensure_future(asyncio.to_thread(work, *args, **kwargs))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.wait({running})
        raise
