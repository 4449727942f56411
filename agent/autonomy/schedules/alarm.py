"""Wakes at a moment of the wall clock, and when files of a folder are replaced; never in between.

The kernel keeps the time where it can: it goes on while the machine sleeps, and a clock that is set
is noticed. Elsewhere the clock is looked at once a minute.
"""

from __future__ import annotations

import asyncio
import errno
import os
import struct
import time
from pathlib import Path
from typing import Any

MINUTE = 60.0
_REALTIME, _NONBLOCK = 0, os.O_NONBLOCK | os.O_CLOEXEC
_ABSOLUTE, _TELL_IF_SET = 1, 2
_REPLACED, _WRITTEN = 0x80 | 0x200, 0x8  # moved to, deleted; written and closed


class Alarm:
    """For one task that waits; whoever pokes it has it look at once."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._rung = asyncio.Event()
        self.woken = 0  # times that it woke
        self._timer, self._watch = _opened()
        self._watched: set[Path] = set()
        for fd in (self._timer, self._watch):
            if fd >= 0:
                self._loop.add_reader(fd, self._read, fd)

    def look_at(self, folder: Path, *, written: bool = False) -> None:
        """Wake when a file there is replaced; a folder that is not there yet is not watched."""
        if self._watch < 0 or folder in self._watched or not folder.is_dir():
            return
        self._watched.add(folder)
        what = _REPLACED | _WRITTEN if written else _REPLACED
        _libc().inotify_add_watch(self._watch, os.fsencode(folder), what)

    def poke(self) -> None:
        self._rung.set()

    async def wait(self, when: float | None) -> None:
        """Until that moment, None for never, or a poke; maybe a little before, never long after."""
        fallback: asyncio.TimerHandle | None = None
        if self._timer >= 0:
            self._set(when)
        elif when is not None or self._watched:
            wait = MINUTE if when is None else min(MINUTE, max(0.0, when - time.time()))
            fallback = self._loop.call_later(wait, self._rung.set)
        try:
            await self._rung.wait()
        finally:
            self._rung.clear()
            self.woken += 1
            if fallback is not None:
                fallback.cancel()

    def close(self) -> None:
        for fd in (self._timer, self._watch):
            if fd >= 0:
                self._loop.remove_reader(fd)
                os.close(fd)
        self._timer = self._watch = -1

    def _set(self, when: float | None) -> None:
        """A moment that is over rings at once; 0 would turn the clock off."""
        at = 0.0 if when is None else max(when, 1.0)
        spec = struct.pack("@qqqq", 0, 0, int(at), int(at % 1 * 1e9))
        _libc().timerfd_settime(self._timer, _ABSOLUTE | _TELL_IF_SET, spec, None)

    def _read(self, fd: int) -> None:
        try:
            os.read(fd, 65_536)
        except BlockingIOError:
            return
        except OSError as error:
            if error.errno != errno.ECANCELED:  # the clock was set: what is due is computed anew
                raise
        self._rung.set()


def _libc() -> Any:
    import ctypes  # noqa: PLC0415  lazy: 5 ms, only with schedules

    return ctypes.CDLL(None, use_errno=True)


def _opened() -> tuple[int, int]:
    """A timer and a watch of the kernel; -1 where it has none."""
    libc = _libc()
    try:
        timer = int(libc.timerfd_create(_REALTIME, _NONBLOCK))
        return timer, int(libc.inotify_init1(_NONBLOCK))
    except AttributeError:  # not Linux
        return -1, -1
