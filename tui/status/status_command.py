"""The person's own status line: a command that is told about the session and prints the line.

One process at a time, in a group of its own, never more often than every 300 ms, and only when
something changed; it has five seconds. Nothing runs before somebody calls `changed`.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from gatewright.tui.screens.host import Host
from gatewright.tui.session_calls import Talk
from gatewright.tui.status.status import Status

if TYPE_CHECKING:
    from gatewright.agent.client.port import StatusSource

DEBOUNCE = 0.3
LIMIT = 5.0
MAX_BYTES = 64 * 1024
SHOWN_ERROR = 200


class Printed(NamedTuple):
    """What a command printed; with a problem there is nothing to show."""

    text: str = ""
    problem: str = ""


class Ports(NamedTuple):
    """`show` is given the output, or None for the built-in line, and the padding of it."""

    show: Callable[[str | None, int], None]
    tell: Callable[[str], None]
    spawn: Callable[[Coroutine[Any, Any, None]], None]
    size: Callable[[], tuple[int, int]]  # columns for the line, rows of the terminal
    folder: Callable[[], Path]


class StatusCommand:
    """Call `changed` when something on the line may have changed; `stop` at the end."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports
        self._book: StatusSource | None = None
        self._input: Callable[[], bytes] = bytes
        self._working = False
        self._again = False
        self._stopped = False
        self._told: set[str] = set()  # commands whose failure was told
        self._group = 0
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, book: StatusSource | None, input: Callable[[], bytes]) -> None:
        """There is a session, whose settings say what runs."""
        if book is not None and book is not self._book:
            book.listen(self.changed)
        self._book, self._input = book, input
        self.changed()

    def changed(self) -> None:
        """Run the command soon, if there is one."""
        if self._stopped or self._book is None:
            return
        if self._book.setting() is None:
            self._ports.show(None, 0)
        elif self._working:
            self._again = True
        else:
            self._working = True
            self._ports.spawn(self._work())

    async def _work(self) -> None:
        try:
            self._again = True
            while self._again and not self._stopped:
                await asyncio.sleep(DEBOUNCE)
                self._again = False
                await self._once()
        finally:
            self._working = False

    async def _once(self) -> None:
        book = self._book
        assert book is not None
        book.refresh()
        setting = book.setting()
        if setting is None:
            self._ports.show(None, 0)
            return
        columns, rows = self._ports.size()
        env = {**book.env(), "COLUMNS": str(columns), "LINES": str(rows)}
        printed = await self.run(setting.command, env, self._input())
        if self._stopped or book.setting() != setting:
            return  # it is another one by now, or none: `changed` was called for that
        if printed.problem:
            self._fail(setting.command, printed.problem)
        self._ports.show(None if printed.problem else printed.text, setting.padding)
        self._wait(setting.refresh_interval)

    def _wait(self, seconds: int | None) -> None:
        """Only where settings ask for it, the line is made anew although nothing changed."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if seconds is not None:
            self._timer = asyncio.get_running_loop().call_later(seconds, self.changed)

    def _fail(self, command: str, problem: str) -> None:
        if command not in self._told:
            self._told.add(command)
            self._ports.tell(
                f"The status line command {problem}. The built-in line stays; "
                "/statusline shows the command."
            )

    async def run(self, command: str, env: Mapping[str, str], given: bytes) -> Printed:
        """Run it once, with the time it has."""
        with Drain() as output, Drain() as errors:
            try:
                process = await asyncio.create_subprocess_exec(
                    *("/bin/sh", "-c", command),
                    cwd=self._ports.folder(),
                    env=env,
                    stdin=asyncio.subprocess.PIPE,
                    stdout=output.end,
                    stderr=errors.end,
                    start_new_session=True,
                )
            except (OSError, ValueError) as error:
                return Printed(problem=f"could not be started: {error}")
            code = await self._ended(process, given)
            if code is None:
                return Printed(problem=f"took longer than {LIMIT:.0f} seconds and was stopped")
            text, why = output.text(), errors.text().strip()[:SHOWN_ERROR]
        if code:
            return Printed(problem=f"ended with {code}" + (f": {why}" if why else ""))
        return Printed(text) if text.strip() else Printed(problem="printed nothing")

    async def _ended(self, process: asyncio.subprocess.Process, given: bytes) -> int | None:
        """How it ended; None when it had to be ended. Its group ends with it."""
        assert process.stdin is not None
        self._group = process.pid
        try:
            async with asyncio.timeout(LIMIT):
                with contextlib.suppress(OSError):  # it need not read
                    process.stdin.write(given)
                    await process.stdin.drain()
                process.stdin.close()
                return await process.wait()
        except TimeoutError:
            return None
        finally:
            self._kill()
            process.stdin.close()
            await process.wait()
            self._group = 0

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._group, signal.SIGKILL)

    def stop(self) -> None:
        """The program ends: nothing of it stays."""
        self._stopped = True
        if self._timer is not None:
            self._timer.cancel()
        if self._group:
            self._kill()


def for_screen(status: Status, talk: Talk, host: Host) -> StatusCommand:
    """The command whose line this status line shows."""

    def tell(text: str) -> None:
        talk.note(text, "warning")

    command = StatusCommand(
        Ports(
            show=status.show_own,
            tell=tell,
            spawn=host.spawn,
            size=lambda: (status.room(), status.screen.size.height),
            folder=host.folder,
        )
    )
    status.on_change = command.changed
    return command


class Drain:
    """A pipe to write into, read as it fills; the first part is kept.

    Of our own, because the one of a process is waited for as long as anybody has it open.
    """

    def __init__(self) -> None:
        self._kept = bytearray()
        self._from, self.end = os.pipe()
        os.set_blocking(self._from, False)

    def __enter__(self) -> Drain:
        asyncio.get_running_loop().add_reader(self._from, self._read)
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.get_running_loop().remove_reader(self._from)
        os.close(self._from)
        os.close(self.end)

    def _read(self) -> bool:
        """Whether there was something."""
        try:
            chunk = os.read(self._from, 65536)
        except BlockingIOError:
            return False
        self._kept += chunk[: MAX_BYTES - len(self._kept)]
        return bool(chunk)

    def text(self) -> str:
        """What came, and what still lies in the pipe."""
        left = MAX_BYTES
        while left > 0 and self._read():
            left -= 65536
        return self._kept.decode("utf-8", "replace")
