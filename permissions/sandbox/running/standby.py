"""A confined shell that was started before its command is known, and waits for it on a pipe.

It is told its command at most once, as data with its length in front, and only while everything
that is mounted in it is still what was asked for. Before the command begins it has closed the pipe,
of which we hold the only other end: nothing inside can hear of another command.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from gatewright.permissions.sandbox.linux.mounted import Mounted, mounted
from gatewright.permissions.sandbox.running.launches import Launches, Order
from gatewright.tools.system.processes import GroupChild, started

SECONDS = 2.0  # that it may take to be there; starting another one takes less
_MOST = 60_000  # bytes of a command: they fit into the pipe, so nobody waits for anybody
_DIGITS = 6
# bash alone reads so many bytes at once; in the C locale they are what it counts. What it says of
# its locale it says again in the shell that it becomes.
_WAITS = (
    "printf . >&{said}; exec {said}>&-; "
    "{{ LC_ALL=C read -r -N {digits} -u {told} n && LC_ALL=C read -r -N $((10#$n)) -u {told} c; }}"
    ' 2>/dev/null || exit 125; exec {told}<&-; exec {becomes} "$c"'
)
# A shell runs what these say before anything else, so it would be run twice.
_BEGINS = frozenset({"BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "PS4", "BASH_XTRACEFD"})


def may_wait(order: Order) -> bool:
    return _BEGINS.isdisjoint(order.env) and not order.own


class Standby:
    """One such shell: started when made, and gone once it was told or dropped."""

    def __init__(self, launches: Launches, order: Order, shell: Sequence[str]) -> None:
        """`shell` is its command line but for the script at the end."""
        self.order, self.shell = order, tuple(shell)
        self._launches = launches
        self._fixed = frozenset(launches.machine.kept)
        self._there = asyncio.Event()
        self._mounted: Mounted | None = None
        self._over: Callable[[], None] | None = None
        told, self._tells = os.pipe2(os.O_CLOEXEC)
        self._hears, said = os.pipe2(os.O_CLOEXEC)
        try:
            os.set_blocking(self._tells, False)
            becomes = shlex.join(shell)
            text = _WAITS.format(said=said, told=told, digits=_DIGITS, becomes=becomes)
            self.run, request = launches.made(order, (*shell, text))
            fds = (*request.fds, told, said)
            self._child = started(replace(request, fds=fds, ended=self._ended))
        except BaseException:
            self._shut()
            raise
        finally:
            os.close(told)
            os.close(said)
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._hears, self._heard)

    def _heard(self) -> None:
        """It waits now, or will never."""
        self._loop.remove_reader(self._hears)
        if os.read(self._hears, 1) and (init := self.run.init()):
            self._mounted = mounted(self.run.options, init, self._fixed)
        self._there.set()

    @property
    def holds(self) -> bool:
        """Whether it may still be told a command, or is about to be there."""
        if not self._there.is_set():
            return True
        return not self._child.exited and self._mounted is not None and self._mounted.holds()

    async def given(self, script: str, over: Callable[[], None]) -> GroupChild | None:
        """It goes on as this script, and `over` is called at its end; None where it cannot."""
        with contextlib.suppress(TimeoutError):
            if not self._there.is_set():
                async with asyncio.timeout(SECONDS):
                    await self._there.wait()
        if not self._there.is_set() or not self.holds:
            return None
        self._child.forget()  # what its start had to say, the shell that it becomes says again
        self._over = over
        words = os.fsencode(script)
        data = b"%0*d%b" % (_DIGITS, len(words), words)
        with contextlib.suppress(OSError):
            if os.write(self._tells, data) == len(data):
                self._shut()
                return self._child
        self._over = None
        return None

    def _ended(self) -> None:
        if self._over is not None:
            self._over()
        else:
            self._launches.taken_away(self.run)

    def _shut(self) -> None:
        for fd in (self._tells, self._hears):
            if fd >= 0:
                os.close(fd)
        self._tells = self._hears = -1

    async def dropped(self) -> None:
        """Nobody needs it: it is ended, with all that was made for it."""
        self._leave()
        await self._child.kill(0.0)

    def end(self) -> None:
        """The same, here and now."""
        self._leave()
        self._child.end()

    def _leave(self) -> None:
        if self._hears >= 0 and not self._loop.is_closed():
            self._loop.remove_reader(self._hears)
        self._shut()


def fits(script: str) -> bool:
    """Whether it can be told this."""
    return "\0" not in script and len(os.fsencode(script)) <= _MOST
