"""Signals reach the loop of the main thread; where it does not hear them, the process ends.

The loop alone would only look when whatever it does comes back: one call that waits for ever
would make the program ignore everything but SIGKILL.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import threading
from asyncio import AbstractEventLoop
from collections.abc import Callable, Generator, Mapping

ENDING: tuple[int, ...] = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PATIENCE = 3.0  # seconds a loop has to hear of it


class Hearing:
    """Begins where it is made, in the main thread (elsewhere ValueError), until `stop`.

    The loop reads from a socket what signals wrote there; a thread only looks whether it does.
    """

    def __init__(
        self, loop: AbstractEventLoop, handlers: Mapping[int, Callable[[], object]]
    ) -> None:
        self._loop = loop
        self._handlers = handlers
        self._heard = threading.Event()
        self._stopped = False
        self._reader, self._writer = socket.socketpair()
        self._reader.setblocking(False)
        self._writer.setblocking(False)
        try:
            self._before = signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)
        except ValueError:
            self._reader.close()
            self._writer.close()
            raise
        loop.add_reader(self._reader, self._hear)
        for number in handlers:
            signal.signal(number, _written)
            signal.siginterrupt(number, False)
        threading.Thread(target=self._watch, name="signals", daemon=True).start()

    def stop(self) -> None:
        """From now on they do what they usually do."""
        for number in self._handlers:
            usual = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
            signal.signal(number, usual)
        signal.set_wakeup_fd(self._before)
        self._loop.remove_reader(self._reader)
        self._stopped = True
        self._heard.set()
        self._writer.close()  # the thread sees the end of it, and closes the other

    def _hear(self) -> None:
        numbers = self._reader.recv(64)
        self._heard.set()
        for number in numbers:
            if number in self._handlers:
                self._handlers[number]()

    def _watch(self) -> None:
        with self._reader:
            while not self._stopped:
                select.select([self._reader], [], [])
                if self._heard.wait(PATIENCE):
                    self._heard.clear()
                    continue
                with contextlib.suppress(BlockingIOError):  # it was read at the last moment
                    unheard = self._reader.recv(64, socket.MSG_PEEK)
                    for number in self._handlers.keys() & set(unheard):
                        os._exit(128 + number)


@contextlib.contextmanager
def hearing(
    loop: AbstractEventLoop, handlers: Mapping[int, Callable[[], object]]
) -> Generator[None]:
    """The same for as long as a block runs."""
    heard = Hearing(loop, handlers)
    try:
        yield
    finally:
        heard.stop()


def _written(_number: int, _frame: object) -> None:
    """It stands in the socket already."""
