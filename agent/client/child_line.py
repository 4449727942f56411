"""The line to a session in a child process of our own: its standard streams.

What it says on its standard error is kept to its end, for the sentence that says how it ended.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path

from gatewright.agent.client.far_line import LineEnded
from gatewright.agent.client.framing import MAX_LINE, Lines, TooLong
from gatewright.agent.errors import SessionError
from gatewright.agent.text.printable import visible
from gatewright.tools.protocol import Child, Spawn, SpawnRequest, ToolFailure
from gatewright.tools.system.pipes import Drain

FLAGS = (
    "--input-format",
    "stream-json",
    "--output-format",
    "stream-json",
    "--include-session-events",
)
END_LIMIT = 10.0  # seconds in which it ends by itself once its input has
TAIL = 4096  # bytes of its standard error
SHOWN = 300
UNREAD = 2 * MAX_LINE
ENDED = "The process of the session has ended{how}."
ENDLESS = f"The session sent a line of more than {MAX_LINE // 1024**2} MiB, so it was ended."
DEAF = "The process of the session takes nothing any more, so it was ended."


async def start(argv: Sequence[str], cwd: Path, env: Mapping[str, str], spawn: Spawn) -> ChildLine:
    """Start `argv`, the program with flags but for those of the line. Raises SessionError."""
    their_in, our_out = os.pipe()
    our_err, their_err = os.pipe()
    try:
        child = await spawn(
            SpawnRequest(
                argv=(*argv, *FLAGS),
                cwd=cwd,
                env=env,
                stdin=their_in,
                errors=their_err,
                dies_with_us=True,
            )
        )
    except ToolFailure as error:
        os.close(our_out)
        os.close(our_err)
        raise SessionError(str(error)) from error
    finally:
        os.close(their_in)
        os.close(their_err)
    return ChildLine(child, our_out, our_err)


class ChildLine:
    """Implements `Line`; `out` is its standard input, `errors` its standard error."""

    def __init__(self, child: Child, out: int, errors: int) -> None:
        self._child = child
        self._out = out
        self._loop = asyncio.get_running_loop()
        self._lines = Lines()
        self._whole: deque[bytes] = deque()
        self._unsent: deque[bytes] = deque()
        self._size = 0
        self._tail = b""
        self._why = ""
        self._over = asyncio.Event()  # nothing more is read
        self._closing: asyncio.Task[None] | None = None
        os.set_blocking(out, False)
        self._errors = Drain(errors, self._hear)

    @property
    def pid(self) -> int:
        return self._child.pid

    # out

    def send(self, line: bytes) -> None:
        if self._out < 0:
            return
        self._unsent.append(line)
        self._size += len(line)
        if self._size > UNREAD:
            self._why = DEAF
            self._hang_up()
        elif len(self._unsent) == 1:
            self._write()

    def _write(self) -> None:
        while self._unsent:
            try:
                sent = os.write(self._out, self._unsent[0])
            except BlockingIOError:
                self._loop.add_writer(self._out, self._write)
                return
            except OSError:  # it has ended: its own last words say why
                self._hang_up()
                return
            self._size -= sent
            if sent < len(self._unsent[0]):
                self._unsent[0] = self._unsent[0][sent:]
            else:
                self._unsent.popleft()
        self._loop.remove_writer(self._out)
        if self._closing is not None:
            self._hang_up()

    def _hang_up(self) -> None:
        """Nothing more goes out."""
        if self._out >= 0:
            self._loop.remove_writer(self._out)
            os.close(self._out)
            self._out = -1
        self._unsent.clear()
        self._size = 0

    # in

    async def next(self) -> bytes:
        while not self._whole:
            chunk = await self._child.read()
            if not chunk:
                self._over.set()
                raise LineEnded(await self._ended())
            await asyncio.sleep(0)  # also where it never stops, and never says anything
            try:
                self._whole.extend(line for line in self._lines.add(chunk) if line.strip())
            except TooLong:
                self._why = ENDLESS
                self._over.set()
                raise LineEnded(ENDLESS) from None
        return self._whole.popleft()

    async def _ended(self) -> str:
        code = await self._child.wait()
        self._errors.rest()
        if self._why:
            return self._why
        words = " ".join(visible(self._tail.decode("utf-8", "replace")).split())
        how = f" with exit code {code}" if code else ""
        return ENDED.format(how=f"{how}: {words[-SHOWN:]}" if words else how)

    def _hear(self, said: bytes) -> None:
        self._tail = (self._tail + said)[-TAIL:]

    async def close(self, *, at_once: bool = False) -> None:
        if at_once or self._why:
            self._over.set()
        if self._closing is None:
            self._closing = asyncio.create_task(self._close(), name="ending a session's process")
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        """Its input ends, and with that its session; else it is ended. What was sent goes first."""
        if not self._unsent:
            self._hang_up()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(END_LIMIT):
                await self._over.wait()
        self._hang_up()
        await self._child.kill()
        self._errors.rest()
        self._errors.close()
