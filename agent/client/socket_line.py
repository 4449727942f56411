"""The line to a session in a process that goes on by itself: a Unix socket of the same user.

Closing it ends nothing there. Whoever listens at a path of another user is not talked to.
"""

from __future__ import annotations

import asyncio
import os
import socket
import struct
from collections import deque
from pathlib import Path

from gatewright.agent.client.far_line import LineEnded
from gatewright.agent.client.framing import MAX_LINE, Lines, TooLong
from gatewright.agent.errors import SessionError

CHUNK = 256 * 1024
CONNECT_LIMIT = 5.0
LAST = 1.0  # seconds for what was said last to go out
UNREAD = 2 * MAX_LINE
ENDED = "The process of the session has ended, or it has cut this line. /restart goes on with it."
ENDLESS = f"The session sent a line of more than {MAX_LINE // 1024**2} MiB, so it was left."
DEAF = "The process of the session takes nothing any more, so it was left."
NOBODY = "Nobody answers at the session's socket: {why}."
FOREIGN = "Another user listens at the session's socket {path}, so nothing was said to it."


async def connect(path: Path) -> SocketLine:
    """Raises SessionError: nobody is there, or somebody else."""
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    made.setblocking(False)
    try:
        async with asyncio.timeout(CONNECT_LIMIT):
            await asyncio.get_running_loop().sock_connect(made, str(path))
    except TimeoutError as error:
        made.close()
        raise SessionError(NOBODY.format(why=f"no answer in {CONNECT_LIMIT:.0f} s")) from error
    except OSError as error:
        made.close()
        raise SessionError(NOBODY.format(why=error.strerror or error)) from error
    if (peer := peer_uid(made)) is not None and peer != os.geteuid():
        made.close()
        raise SessionError(FOREIGN.format(path=path))
    return SocketLine(made)


def peer_uid(made: socket.socket) -> int | None:
    """Whose process is at the other end; None where the system does not say."""
    if (option := vars(socket).get("SO_PEERCRED")) is None:
        return None  # macOS: the directory of the socket is the user's alone
    _, uid, _ = struct.unpack("3i", made.getsockopt(socket.SOL_SOCKET, option, 12))
    return int(uid)


class SocketLine:
    """Implements `Line`."""

    def __init__(self, made: socket.socket) -> None:
        self._socket = made
        self._loop = asyncio.get_running_loop()
        self._lines = Lines()
        self._whole: deque[bytes] = deque()
        self._unsent: deque[memoryview] = deque()
        self._size = 0
        self._why = ""
        self._sent = asyncio.Event()
        self._sent.set()

    # out

    def send(self, line: bytes) -> None:
        if self._socket.fileno() < 0 or self._why:
            return
        self._unsent.append(memoryview(line))
        self._size += len(line)
        self._sent.clear()
        if self._size > UNREAD:
            self._hang_up(DEAF)
        elif len(self._unsent) == 1:
            self._write()

    def _write(self) -> None:
        while self._unsent:
            try:
                sent = self._socket.send(self._unsent[0])
            except (BlockingIOError, InterruptedError):
                self._loop.add_writer(self._socket, self._write)
                return
            except OSError:  # the reader hears how it ended
                self._unsent.clear()
                break
            self._size -= sent
            if sent < len(self._unsent[0]):
                self._unsent[0] = self._unsent[0][sent:]
            else:
                self._unsent.popleft()
        self._loop.remove_writer(self._socket)
        self._sent.set()

    # in

    async def next(self) -> bytes:
        while not self._whole:
            chunk = await self._read()
            if not chunk:
                raise LineEnded(self._why or ENDED)
            try:
                self._whole.extend(line for line in self._lines.add(chunk) if line.strip())
            except TooLong:
                self._why = ENDLESS
                raise LineEnded(ENDLESS) from None
        return self._whole.popleft()

    async def _read(self) -> bytes:
        if self._socket.fileno() < 0:
            return b""
        try:
            return await self._loop.sock_recv(self._socket, CHUNK)
        except OSError:
            return b""

    def _hang_up(self, why: str) -> None:
        """Whoever reads hears it."""
        self._why = self._why or why
        self._unsent.clear()
        self._loop.remove_writer(self._socket)
        self._sent.set()
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            return  # it was cut already

    async def close(self, *, at_once: bool = False) -> None:
        """What was said goes out first; the session goes on."""
        if self._socket.fileno() < 0:
            return
        if not at_once:
            try:
                async with asyncio.timeout(LAST):
                    await self._sent.wait()
            except TimeoutError:
                self._why = DEAF
        self._hang_up(self._why or ENDED)
        self._loop.remove_reader(self._socket)
        self._socket.close()
