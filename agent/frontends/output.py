"""Standard output behind a thread: a reader that stalls or goes away never blocks the session."""

from __future__ import annotations

import errno
import os
import queue
import threading
from collections.abc import Callable

from gatewright.agent.text.printable import visible

FLUSH_LIMIT = 5.0
SETTLE_LIMIT = 0.2  # a terminal that stands still holds nobody up


class Output:
    """Writes in order, to a terminal only what does no harm there.

    `failed` is called once, from the thread, when nothing more can be written; later writes are
    dropped.
    """

    def __init__(self, fd: int, failed: Callable[[OSError], None]) -> None:
        self._fd = fd
        self._for_people = os.isatty(fd)
        self._failed = failed
        self._queue: queue.SimpleQueue[bytes | threading.Event | None] = queue.SimpleQueue()
        self.error: OSError | None = None
        self._thread = threading.Thread(target=self._run, name="output", daemon=True)
        self._thread.start()

    def write(self, text: str) -> None:
        if self._for_people:
            text = visible(text)
        # A lone surrogate from a model must not end the program.
        self._queue.put(text.encode("utf-8", "replace"))

    def settle(self, limit: float = SETTLE_LIMIT) -> None:
        """Wait until what was written so far is out, as long as that takes no time."""
        if self._for_people and self._thread.is_alive():
            out = threading.Event()
            self._queue.put(out)
            out.wait(limit)

    def close(self, limit: float = FLUSH_LIMIT) -> bool:
        """Wait until all is written; False when the reader took longer than `limit`."""
        self._queue.put(None)
        self._thread.join(limit)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while (data := self._queue.get()) is not None:
            if isinstance(data, threading.Event):
                data.set()
                continue
            try:
                while data:
                    data = data[os.write(self._fd, data) :]
            except OSError as error:
                self.error = error
                self._failed(error)
                return


def went_away(error: OSError) -> bool:
    """The reader left before the end: quiet, as with any filter."""
    return error.errno in (errno.EPIPE, errno.ECONNRESET)
