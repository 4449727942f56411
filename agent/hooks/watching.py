"""Tells hooks of files that change: those that a matcher names, and those that a hook asks for.

Looks once a second at each, in a thread, and only while there is something to look at.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeAlias

EVERY = 1.0
MOST = 256
Stamp: TypeAlias = tuple[int, int, int] | None


class Watching:
    """`changed` hears of a path and how it changed: change, add or unlink."""

    def __init__(
        self,
        changed: Callable[[str, str], object],
        pause: Callable[[float], asyncio.Future[None]] | None = None,
    ) -> None:
        self._changed = changed
        self._pause = pause or _slept
        self._named: tuple[str, ...] = ()
        self._asked: tuple[str, ...] = ()
        self._stamps: dict[str, Stamp] = {}
        self._task: asyncio.Task[None] | None = None

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self._named, *self._asked)))[:MOST]

    def names(self, names: Iterable[str], root: Path) -> None:
        """The files that matchers name, in the project's directory."""
        self._named = tuple(str(root / name) for name in names)
        self._begin()

    def ask(self, paths: Sequence[str]) -> None:
        """In place of what was asked for before; only whole paths."""
        self._asked = tuple(path for path in paths if path.startswith("/") and "\0" not in path)
        self._begin()

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task}, timeout=1.0)

    def _begin(self) -> None:
        known = self._stamps
        self._stamps = {path: known.get(path, _stamp(path)) for path in self.paths}
        if self._stamps and self._task is None:
            self._task = asyncio.create_task(self._run(), name="files of hooks")

    async def _run(self) -> None:
        while self._stamps:
            await self._pause(EVERY)
            before = dict(self._stamps)
            now = await asyncio.to_thread(_stamps, tuple(before))
            for path, stamp in now.items():
                if path in self._stamps and stamp != before[path]:
                    self._stamps[path] = stamp
                    self._changed(path, _how(before[path], stamp))
        self._task = None


def _slept(seconds: float) -> asyncio.Future[None]:
    return asyncio.ensure_future(asyncio.sleep(seconds))


def _how(before: Stamp, now: Stamp) -> str:
    if before is None:
        return "add"
    return "unlink" if now is None else "change"


def _stamps(paths: Sequence[str]) -> dict[str, Stamp]:
    return {path: _stamp(path) for path in paths}


def _stamp(path: str) -> Stamp:
    try:
        status = os.stat(path)  # noqa: PTH116  many, and no Path
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
