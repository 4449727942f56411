"""Writes to a server without blocking; one that does not read what it is sent is given up."""

from __future__ import annotations

import asyncio
import os

MOST = 64 * 1024 * 1024  # bytes that wait for it
_PIECE = 256 * 1024


class Outgoing:
    """Owns `fd`. `stuck` is set once it reads no more."""

    def __init__(self, fd: int) -> None:
        os.set_blocking(fd, False)
        self._fd = fd
        self._loop = asyncio.get_running_loop()
        self._held = bytearray()
        self._sent = 0  # of what is held
        self._waiting = False
        self.stuck = False

    def send(self, data: bytes) -> None:
        if self.stuck or self._fd < 0:
            return
        if self._sent > _PIECE:
            del self._held[: self._sent]
            self._sent = 0
        self._held += data
        if len(self._held) - self._sent > MOST:
            self.stuck = True
            self.close()
        elif not self._waiting:
            self._write()

    def _write(self) -> None:
        while self._fd >= 0 and self._sent < len(self._held):
            try:
                self._sent += os.write(self._fd, self._held[self._sent : self._sent + _PIECE])
            except BlockingIOError:
                if not self._waiting:
                    self._loop.add_writer(self._fd, self._write)
                    self._waiting = True
                return
            except OSError:  # it is gone: who reads from it hears of that
                self.close()
                return
        self._held, self._sent = bytearray(), 0
        self._rest()

    def _rest(self) -> None:
        if self._waiting:
            self._loop.remove_writer(self._fd)
            self._waiting = False

    def close(self) -> None:
        if self._fd >= 0:
            self._rest()
            os.close(self._fd)
            self._fd = -1
        self._held, self._sent = bytearray(), 0
