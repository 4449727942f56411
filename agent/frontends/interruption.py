"""Signals in print mode: the first lets the turn settle, the next ends the process's work."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Generator
from functools import partial

from gatewright.agent.launch.exits import Exit
from gatewright.agent.session.session import Session
from gatewright.tools.system.signals import hearing

SETTLE = 4.0  # seconds a turn has to stop its tools and record what happened

CODES = {
    signal.SIGINT: Exit.SIGINT,
    signal.SIGTERM: Exit.SIGTERM,
    signal.SIGHUP: Exit.SIGHUP,
}


class Interruption:
    """`code` is set once the process was told to stop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._work: asyncio.Task[int] | None = None
        self.session: Session | None = None
        self.code = Exit.OK

    @contextlib.contextmanager
    def of(self, work: asyncio.Task[int]) -> Generator[None]:
        self._work = work
        with hearing(
            self._loop, {number: partial(self.stop, code) for number, code in CODES.items()}
        ):
            yield

    def stop(self, code: Exit) -> None:
        """Interrupt the turn; a second call does not wait for it, a third ends the process."""
        if self.code and self._work is not None and self._work.cancelling():
            os._exit(self.code)
        again, self.code = bool(self.code), self.code or code
        if not again and self.session is not None and self.session.interrupt():
            self._loop.call_later(SETTLE, self._cancel)
        else:
            self._cancel()

    def _cancel(self) -> None:
        if self._work is not None and not self._work.done():
            self._work.cancel()
