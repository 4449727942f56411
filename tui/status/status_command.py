"""The person's own status line: a command that is told about the session and prints the line.

One process at a time, in a group of its own, never more often than every 300 ms, and only when
something changed; it has five seconds. Nothing runs before somebody calls `changed`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from gatewright.tools.protocol import SpawnRequest, ToolFailure
from gatewright.tools.system import processes
from gatewright.tui.session_calls import Talk
from gatewright.tui.status.status import Status
from gatewright.tui.work import Spawn

if TYPE_CHECKING:
    from gatewright.agent.client.port import StatusSource
    from gatewright.tui.app import AgentApp

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
    spawn: Spawn
    size: Callable[[], tuple[int, int]]  # columns for the line, rows of the terminal
    folder: Callable[[], Path]


class StatusCommand:
    """Call `changed` when something on the line may have changed; `close` at the end."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports
        self._book: StatusSource | None = None
        self._input: Callable[[], bytes] = bytes
        self._working = False
        self._again = False
        self._stopped = False
        self._told: set[str] = set()  # commands whose failure was told
        self._running: asyncio.Task[processes.Printed] | None = None
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
            self._ports.spawn(self._work)

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
        line = await self.run(setting.command, env, self._input())
        if self._stopped or book.setting() != setting:
            return  # it is another one by now, or none: `changed` was called for that
        if line.problem:
            self._fail(setting.command, line.problem)
        self._ports.show(None if line.problem else line.text, setting.padding)
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
        argv = ("/bin/sh", "-c", command)
        request = SpawnRequest(argv=argv, cwd=self._ports.folder(), env=env)
        try:
            work = processes.printed(request, given, seconds=LIMIT, keep=MAX_BYTES)
            self._running = asyncio.create_task(work, name="status line")
            code, said, errors = await self._running
        except ToolFailure as failure:
            return Printed(problem=f"could not be started: {failure}")
        if code is None:
            return Printed(problem=f"took longer than {LIMIT:.0f} seconds and was stopped")
        text, why = (part.decode("utf-8", "replace") for part in (said, errors))
        if code:
            why = why.strip()[:SHOWN_ERROR]
            return Printed(problem=f"ended with {code}" + (f": {why}" if why else ""))
        return Printed(text) if text.strip() else Printed(problem="printed nothing")

    async def close(self) -> None:
        """The program ends: nothing of it stays."""
        self._stopped = True
        if self._timer is not None:
            self._timer.cancel()
        if self._running is not None:
            self._running.cancel()
            await asyncio.wait({self._running}, timeout=LIMIT)


def for_screen(status: Status, talk: Talk, app: AgentApp) -> StatusCommand:
    """The command whose line this status line shows."""

    def tell(text: str) -> None:
        talk.note(text, "warning")

    command = StatusCommand(
        Ports(
            show=status.show_own,
            tell=tell,
            spawn=app.spawn,
            size=lambda: (status.room(), status.screen.size.height),
            folder=app.folder,
        )
    )
    status.on_change = command.changed
    return command
