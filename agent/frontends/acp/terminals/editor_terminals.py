"""Terminals of the client in which commands run that nothing confines.

Each is released, whatever the client does; what it does not answer in time is given up, and a
terminal that comes too late is ended.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from gatewright.agent.frontends.acp.jsonrpc import Gone, Peer, RpcError
from gatewright.agent.frontends.acp.params import Created, Exited, Printed
from gatewright.agent.frontends.acp.terminals.printed_since import PrintedSince
from gatewright.tools.protocol import ToolFailure
from gatewright.tools.system.untyped_json import Json

PATIENCE = 10.0  # seconds
KEPT = 256 * 1024  # bytes of output that a client is asked to keep
FIRST, SLOWEST = 0.1, 2.0  # seconds between two looks at it
LONG, RARELY = 64 * 1024, 1.0  # characters that are not looked at more often than that
LAST = 1.0  # seconds for a last look at what was ended
OFF = "With acp.terminal off, commands run here."
SILENT = (
    "The editor did not open a terminal within {:.0f} s. Nothing is known to have run; if it opens "
    f"one now, that is ended at once. {OFF}"
)
REFUSED = f"The editor refused to open a terminal, so the command was not run. {OFF}"
GARBAGE = f"The editor's answer about its terminal is not understood; whether it runs the command is not known. {OFF}"  # noqa: E501
LEFT = "The editor is gone; the command was not run."
T = TypeVar("T")


class EditorTerminals:
    """Implements tools.services.Terminal. `opened` hears of each, with its agent and call."""

    patience = PATIENCE

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._tasks: set[asyncio.Task[Any]] = set()
        self.session = ""
        self.wanted: Callable[[], bool] = _no
        self.opened: Callable[[str, str, str], None] = _nobody

    async def run(self, argv: Sequence[str], cwd: Path, *, agent: str, call: str) -> EditorRun:
        program, *args = argv
        given = {"command": program, "args": args, "cwd": str(cwd), "outputByteLimit": KEPT}
        making = self.ask("terminal/create", given, Created)
        try:
            done, _ = await asyncio.wait({making}, timeout=self.patience)
        except asyncio.CancelledError:
            making.add_done_callback(self._late)
            raise
        if not done:
            making.add_done_callback(self._late)
            raise ToolFailure(SILENT.format(self.patience))
        try:
            id = making.result().terminal_id
        except RpcError:
            raise ToolFailure(REFUSED) from None
        except Gone:
            raise ToolFailure(LEFT) from None
        except msgspec.ValidationError:
            raise ToolFailure(GARBAGE) from None
        self.opened(agent, call, id)
        return EditorRun(self, id)

    def ask(self, method: str, more: Json, kind: type[T]) -> asyncio.Task[T]:
        """Raises RpcError, Gone, and ValidationError for an answer that is none."""

        async def asked() -> T:
            said = await self._peer.request(method, {"sessionId": self.session, **more})
            return msgspec.convert(said, kind)

        return self._begin(asked(), method)

    def _begin(self, work: Coroutine[Any, Any, T], name: str) -> asyncio.Task[T]:
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # whoever waits for it has it; a late one is nobody's

    def _late(self, making: asyncio.Task[Created]) -> None:
        if not making.cancelled() and making.exception() is None:
            self.release(making.result().terminal_id)

    def release(self, id: str) -> None:
        """That ends what runs in it. Nobody waits for the answer, which has its limit too."""
        asked = self.ask("terminal/release", {"terminalId": id}, object)
        self._begin(self.within(asked, self.patience), "releasing a terminal")

    async def within(self, asked: asyncio.Task[Any], seconds: float) -> None:
        """Until it is answered, however, and no longer than that."""
        with contextlib.suppress(TimeoutError, RpcError, Gone, msgspec.ValidationError):
            await asyncio.wait_for(asked, seconds)


class EditorRun:
    """Implements tools.services.TerminalRun."""

    def __init__(self, terminals: EditorTerminals, id: str) -> None:
        self._of, self._id = terminals, id
        self._exit = terminals.ask("terminal/wait_for_exit", {"terminalId": id}, Exited)
        self._printed = PrintedSince()
        self._given_up = asyncio.Event()
        self._over = False
        self._pause = FIRST
        self.fault = ""
        self._code: int | None = None

    @property
    def dropped(self) -> bool:
        return self._printed.dropped

    async def read(self) -> bytes:
        while not self._over:
            await self._wait()
            over = self._exit.done() or self._given_up.is_set()
            new = await self._looked(over=over)
            if over or self.fault:
                await self._end()
            if new:
                return new.encode("utf-8", "replace")
        return b""

    async def wait(self) -> int | None:
        while await self.read():
            pass
        return self._code

    async def kill(self, grace: float = 2.0) -> None:
        """What the client does not end is given up then, or once nobody waits for it any more."""
        if self._over:
            return
        try:
            await self._kill(grace)
        finally:
            self._given_up.set()

    async def _kill(self, grace: float) -> None:
        killing = self._of.ask("terminal/kill", {"terminalId": self._id}, object)
        await asyncio.wait({killing, self._exit}, timeout=grace)
        killing.cancel()  # nobody waits for its answer any more

    async def _wait(self) -> None:
        """Until there may be something new to read."""
        given_up = asyncio.ensure_future(self._given_up.wait())
        try:
            waits: set[asyncio.Future[Any]] = {self._exit, given_up}
            await asyncio.wait(waits, timeout=self._pause, return_when=asyncio.FIRST_COMPLETED)
        finally:
            given_up.cancel()

    async def _looked(self, *, over: bool) -> str:
        """What is new; a client that does not say it is not asked again."""
        asked = self._of.ask("terminal/output", {"terminalId": self._id}, Printed)
        try:
            said = await self._answer(asked)
        except TimeoutError:
            self._failed(f"the editor did not say within {self._of.patience:.0f} s what it printed")
        except RpcError:
            self._failed("the editor refused to say what it printed")
        except Gone:
            self._failed("the editor is gone")
        except msgspec.ValidationError:
            self._failed("the editor's answer about what it printed is not understood")
        else:
            new = self._printed.take(said.output, truncated=said.truncated, over=over)
            least = RARELY if len(said.output) > LONG else FIRST
            self._pause = least if new else min(SLOWEST, max(least, self._pause * 2))
            return new
        return ""

    async def _answer(self, asked: asyncio.Task[T]) -> T:
        """TimeoutError where it does not come; once it is given up, sooner."""
        given_up = asyncio.ensure_future(self._given_up.wait())
        try:
            waits: set[asyncio.Future[Any]] = {asked}
            if not given_up.done() and not self._given_up.is_set():
                waits.add(given_up)
                await asyncio.wait(
                    waits, timeout=self._of.patience, return_when=asyncio.FIRST_COMPLETED
                )
            if not asked.done() and self._given_up.is_set():
                await asyncio.wait({asked}, timeout=LAST)
            if not asked.done():
                raise TimeoutError
            return asked.result()
        finally:
            given_up.cancel()
            asked.cancel()

    def _failed(self, why: str) -> None:
        self.fault = self.fault or why

    async def _end(self) -> None:
        self._over = True
        known = self._exit.done() and self._exit.exception() is None
        if not known and not self._given_up.is_set():
            await self._kill(LAST)
        self._of.release(self._id)
        if not self._exit.done():
            self._exit.cancel()
            return
        try:
            said = self._exit.result()
        except RpcError:
            self._failed("the editor refused to say how it ended")
        except Gone:
            self._failed("the editor is gone")
        except msgspec.ValidationError:
            self._failed("the editor's answer about its end is not understood")
        else:
            self._code = status_of(said)
            if self._code is None:
                self._failed("the editor did not say how it ended")


def status_of(said: Exited) -> int | None:
    """128 + n after signal n, as a shell counts; None where neither is said."""
    if said.exit_code is not None:
        return said.exit_code
    name = (said.signal or "").upper()
    if name.isdecimal() and len(name) < 4:
        return 128 + int(name)
    known = {each.name: each.value for each in signal.Signals}
    number = known.get(name) or known.get(f"SIG{name}")
    return 128 + number if number is not None else None


def _no() -> bool:
    return False


def _nobody(agent: str, call: str, terminal: str) -> None:
    """The session is not open yet."""
