"""A lock that is held for long: taken at once, or waited for until its holder is gone."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from pathlib import Path

from gatewright.tools.system import private
from gatewright.tools.system.locks import waited


class Holding:
    """`took` is called on the loop when a lock that was waited for is ours."""

    def __init__(self, path: Path, took: Callable[[], object]) -> None:
        self._path, self._took = path, took
        self._lock = -1
        self._waiting = self._closed = False

    @property
    def held(self) -> bool:
        return self._lock >= 0

    def take(self) -> bool:
        """Whether it is ours now; else it is waited for from here on."""
        if self.held or self._waiting or self._closed:
            return self.held
        private.folder(self._path.parent)
        self._lock = waited(self._path, wait=False)
        if not self.held:
            self._waiting = True
            loop = asyncio.get_running_loop()
            threading.Thread(target=self._wait, args=(loop,), daemon=True).start()
        return self.held

    def let_go(self) -> None:
        if self.held:
            os.close(self._lock)
            self._lock = -1

    def close(self) -> None:
        """For good: what is still waited for is given back when it comes."""
        self._closed = True
        self.let_go()

    def _wait(self, loop: asyncio.AbstractEventLoop) -> None:
        lock = waited(self._path)
        try:
            loop.call_soon_threadsafe(self._came, lock)
        except RuntimeError:  # the loop went first
            os.close(lock)

    def _came(self, lock: int) -> None:
        self._waiting = False
        if self._closed:
            os.close(lock)
            return
        self._lock = lock
        self._took()
