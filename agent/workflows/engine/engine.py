"""A script in its worker, seen from here: started, told what happened, heard, ended.

The worker is hostile. It speaks only while it owes an answer, says so much and no more, and what it
says is `Ended` in the end, exactly once, also where it says nothing, says nonsense, or dies.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections import deque
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UnsetType

from gatewright.agent.client.framing import Lines, TooLong
from gatewright.agent.errors import GatewrightError
from gatewright.agent.workflows.engine.available import NONE, library
from gatewright.agent.workflows.engine.pipe_out import PipeOut
from gatewright.agent.workflows.engine.script_limits import Limits
from gatewright.agent.workflows.engine.wire import (
    MOST_UNSETTLED,
    Begin,
    BudgetNow,
    Called,
    Compile,
    Compiled,
    End,
    Ended,
    FromWorker,
    Inlined,
    Logged,
    Message,
    Nested,
    PhaseBegan,
    Sent,
    Settled,
    ToWorker,
)
from gatewright.agent.workflows.engine.wire_codec import MOST_BYTES, WireProblem, decoded, encoded
from gatewright.agent.workflows.script.checked import Checked, ScriptProblem
from gatewright.tools.protocol import Child, Spawn, SpawnRequest, ToolFailure
from gatewright.tools.system.processes import NOWHERE

MOST_AT_ONCE = 80 * 1024 * 1024  # bytes that follow from one message: more than a script holds
MOST_LINES = 1000  # in which they come: the prelude fills them
MOST_TOLD = 10_000  # messages that do: calls that wait, and what a prelude of ours lets through
_HERE = Path(__file__).parent
_SEATBELT = "/usr/bin/sandbox-exec"
_SHUT_OFF = "(version 1)(allow default)(deny network*)(deny file-write*)(deny process-fork)"

TALKS = "the engine says more than it was asked"
DIED = "the process of the script has ended{how}: what finished is kept, and the run can be resumed"
DEAF = "the process of the script said nothing for {patience:g} s, so it was ended"
_OURS = frozenset({"cpu", "memory", "stack"})  # the engine's own words say less
SAID: dict[str, str] = {
    "cpu": "the script used the processor for {between:g} s between two answers, or for {whole:g} s"
    " in all: let agents do the work, and go through long lists in parts",
    "memory": "the script holds more than {heap} MB: keep less in its variables, or raise"
    " workflows.memoryMb",
    "stack": "the script calls itself too often within itself: its stack has {stack} kB",
    "calls": f"more than {MOST_UNSETTLED} calls wait for their answer: await them in parts",
    "line": "one message of the script is longer than 4 MB: let agents read and write files",
}


class EngineProblem(GatewrightError):
    """Why no script can run here."""


class Engine:
    """One worker. `settle` may be called from any task, `messages` is read by one."""

    def __init__(self, child: Child, out: PipeOut, limits: Limits, meta: dict[str, Any]) -> None:
        self._child, self._out, self._limits, self._meta = child, out, limits, meta
        self._lines = Lines(MOST_BYTES)
        self._whole: deque[bytes] = deque()
        self._open: set[int] = set()
        self._last = 0
        self._owed = 0  # answers of the worker to what it was sent
        self._size = self._pieces = 0  # bytes and lines since the last of them
        self._over = False
        self._closing: asyncio.Task[None] | None = None

    @classmethod
    async def start(cls, checked: Checked, limits: Limits, spawn: Spawn) -> Engine:
        """Starts the worker and has the script compiled: nothing of it runs before `begin`.

        ScriptProblem where the engine does not understand it, EngineProblem where there is none.
        """
        found = library()
        if found is None:
            raise EngineProblem(NONE)
        their_in, our_out = os.pipe()
        try:
            child = await spawn(_request(found, limits, their_in))
        except ToolFailure as error:
            os.close(our_out)
            raise EngineProblem(f"The engine does not start. {error}") from error
        finally:
            os.close(their_in)
        engine = cls(child, PipeOut(our_out), limits, checked.meta.data)
        try:
            engine._send(Compile(checked.body))
            _understood(await engine._next())
        except BaseException:
            await engine.close()
            raise
        return engine

    @property
    def pid(self) -> int:
        return self._child.pid

    async def begin(self, args: Any | UnsetType, budget: BudgetNow) -> None:
        """`args` are UNSET where none were given: in the script they are undefined then."""
        self._send(Begin(self._meta, budget, args))

    async def settle(self, settled: Settled | Inlined) -> None:
        """A call that is not open, or a run that is over, makes this nothing."""
        if settled.id in self._open and not self._over:
            self._open.discard(settled.id)
            self._send(settled)

    async def messages(self) -> AsyncIterator[Message]:
        """Whatever the script does, in order; the last is `Ended`."""
        async for batch in self.batches():
            for message in batch:
                yield message

    async def batches(self) -> AsyncIterator[tuple[Message, ...]]:
        """The same as it came: what the script did after it began, then after each settlement.

        There is one for each, so whoever waits for it before the next knows what follows from what.
        """
        while not self._over:
            batch: list[Message] = []
            idle = False
            while not idle and not self._over:
                sent = await self._next()
                idle = sent.idle
                for message in sent.out:
                    self._note(message, batch)
                if len(batch) > MOST_TOLD and not self._over:
                    self._finish(batch, self._ended("wire", TALKS))
            if not self._over and not self._owed and not self._open:
                self._finish(batch, self._ended("deadlock", "no call is under way, nothing ended"))
            yield tuple(batch)

    async def close(self) -> None:
        """Ends the worker at once."""
        await asyncio.shield(self._end())

    def _end(self) -> asyncio.Task[None]:
        if self._closing is None:
            self._out.close()
            self._closing = asyncio.create_task(self._child.kill(0.0), name="ending a script")
        return self._closing

    # --- the wire ---

    def _send(self, message: ToWorker) -> None:
        self._owed += 1
        self._out.send(encoded(message))

    async def _next(self) -> Sent:
        """The worker's next line, or how it failed, as a line."""
        try:
            async with asyncio.timeout(self._limits.patience if self._owed else None):
                line = await self._line()
        except TimeoutError:
            return Sent((self._ended("died", DEAF.format(patience=self._limits.patience)),))
        except TooLong:
            return Sent((self._ended("line"),))
        if line is None:
            return Sent((await self._death(),))
        self._size += len(line)
        self._pieces += 1
        try:
            sent = decoded(line)
        except WireProblem as problem:
            return Sent((self._ended("wire", str(problem)),))
        if self._owed <= 0 or self._size > MOST_AT_ONCE or self._pieces > MOST_LINES:
            return Sent((self._ended("wire", TALKS),))
        if sent.idle:
            self._owed -= 1
            self._size = self._pieces = 0
        return sent

    async def _line(self) -> bytes | None:
        while not self._whole:
            chunk = await self._child.read()
            if not chunk:
                return None
            self._whole.extend(self._lines.add(chunk))
            await asyncio.sleep(0)  # a worker that never stops is not the only one to be heard
        return self._whole.popleft()

    def _note(self, message: FromWorker, batch: list[Message]) -> None:
        """Keeps which calls are open; what comes behind an end is nothing."""
        if self._over:
            return
        match message:
            case Ended():
                ours = message.kind in _OURS or not message.message
                words = self._words(message.kind) if ours else message.message
                self._finish(batch, msgspec.structs.replace(message, message=words))
            case Compiled():
                self._finish(
                    batch, self._ended("wire", "the engine compiled what it was not given")
                )
            case Called() | Nested() if message.id <= self._last:
                self._finish(batch, self._ended("wire", "the engine gave a call a taken number"))
            case Called() | Nested() if len(self._open) >= MOST_UNSETTLED:
                self._finish(batch, self._ended("calls"))
            case Called() | Nested():
                self._last = message.id
                self._open.add(message.id)
                batch.append(message)
            case Logged() | PhaseBegan():
                batch.append(message)

    def _finish(self, batch: list[Message], ended: Ended) -> None:
        """The end is told at once; the worker goes meanwhile."""
        self._over = True
        batch.append(ended)
        self._end()

    async def _death(self) -> Ended:
        code = await self._child.wait()
        number = code - 128
        if number == signal.SIGXCPU:
            return self._ended("cpu")
        how = f" (signal {number})" if number > 0 else f" with exit code {code}" if code else ""
        return self._ended("died", DIED.format(how=how))

    def _ended(self, kind: End, message: str = "") -> Ended:
        return Ended(kind, message=message or self._words(kind))

    def _words(self, kind: End) -> str:
        """What is said of a limit; the script's own errors have words of their own."""
        limits = self._limits
        return SAID.get(kind, "").format(
            between=limits.between_messages,
            whole=limits.whole_run,
            heap=limits.heap_mb,
            stack=limits.stack_kb,
        )


def _understood(sent: Sent) -> None:
    """ScriptProblem unless the script was compiled, and that is all."""
    match sent.out:
        case (Compiled(),):
            return
        case (Ended(kind="syntax") as end,):
            words = end.message.removeprefix("SyntaxError: ")
            raise ScriptProblem(
                f"the script is no JavaScript: {words}.", line=end.line, column=end.column
            )
        case (Ended() as end,):
            raise EngineProblem(f"The engine failed: {end.message}.")
        case _:
            raise EngineProblem("The engine failed: it said something else than it was asked.")


def _request(library: Path, limits: Limits, stdin: int) -> SpawnRequest:
    numbers = (
        limits.heap_mb,
        limits.stack_kb,
        limits.between_messages,
        limits.whole_run,
        limits.address_space_mb,
    )
    files = (_HERE / "worker.py", library, _HERE / "prelude.js")
    argv = (sys.executable, "-I", "-S", *map(str, files), *map(str, numbers))
    if sys.platform == "darwin" and os.access(_SEATBELT, os.X_OK):
        argv = (_SEATBELT, "-p", _SHUT_OFF, *argv)
    return SpawnRequest(argv=argv, cwd=Path("/"), env={"TZ": "UTC"}, stdin=stdin, errors=NOWHERE)
