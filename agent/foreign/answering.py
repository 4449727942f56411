"""What another agent says and asks, given to the turn that is at work; between turns to nobody.

Sessions, terminals and calls are known by ids of ours or not at all.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import msgspec

from gatewright.agent.foreign.asked_leave import CANCELLED, decided
from gatewright.agent.foreign.calls import NOT_NOW, Calls
from gatewright.agent.foreign.files import Files
from gatewright.agent.foreign.recording import Recording
from gatewright.agent.foreign.said import (
    BriefNotified,
    CreateTerminal,
    Notified,
    OfSession,
    OfTerminal,
    Permission,
    ReadFile,
    WriteFile,
)
from gatewright.agent.foreign.talk import Talk
from gatewright.agent.foreign.terminals import Terminals
from gatewright.agent.frontends.acp.jsonrpc import (
    BAD_PARAMS,
    INVALID,
    NOT_FOUND,
    Method,
    RpcError,
)

LARGEST = 1024 * 1024  # bytes of an update that is kept as a whole, and of what it asks for
ROOM = 32 * 1024 * 1024  # bytes of requests that are not answered yet
MOST = 256 * 1024 * 1024  # bytes of all that is asked for in a turn, which is on record
TOO_LARGE = "This is too large to be done."
TOO_MUCH = "You ask for too much: wait for answers, or end your turn."
S = TypeVar("S", bound=OfSession)


class Answering:
    """Of one session with it; `begin` and `stop` bound a turn."""

    def __init__(self, talk: Talk, session: str, files: Files) -> None:
        self._session, self._files = session, files
        self._record: Recording | None = None
        self._calls: Calls | None = None
        self._terminals = Terminals()
        self._spent: Callable[[], None] = _nobody
        self._waiting = 0  # requests of it that we have not answered
        self._held = 0  # bytes of them
        self._sum = 0  # bytes of all of this turn
        talk.peer.heard["session/update"] = self._update
        talk.peer.methods |= {
            "fs/read_text_file": self._method(ReadFile, self._read),
            "fs/write_text_file": self._method(WriteFile, self._write),
            "terminal/create": self._method(CreateTerminal, self._create),
            "terminal/output": self._method(OfTerminal, self._output),
            "terminal/wait_for_exit": self._method(OfTerminal, self._exit),
            "terminal/kill": self._method(OfTerminal, self._kill),
            "terminal/release": self._method(OfTerminal, self._release),
            "session/request_permission": self._method(Permission, self._permission),
        }

    @property
    def busy(self) -> bool:
        """Whether it waits for us."""
        return self._waiting > 0

    def begin(self, record: Recording, calls: Calls, spent: Callable[[], None]) -> None:
        self._record, self._calls, self._spent, self._sum = record, calls, spent, 0

    async def stop(self, calls: Calls) -> None:
        """What it asked for ends with the turn."""
        self._record, self._calls, self._spent = None, None, _nobody
        terminals, self._terminals = self._terminals, Terminals()
        try:
            await terminals.stop()
        finally:
            await calls.stop()

    def _method(self, kind: type[S], work: Callable[[Calls, S], Awaitable[object]]) -> Method:
        async def method(params: bytes) -> object:
            if len(params) > (LARGEST if kind is not WriteFile else ROOM):
                raise RpcError(BAD_PARAMS, TOO_LARGE)
            asked = msgspec.json.decode(params, type=kind)
            if asked.session_id != self._session:
                raise RpcError(NOT_FOUND, "There is no such session.")
            if self._calls is None:
                if kind is Permission:
                    return CANCELLED
                raise RpcError(INVALID, NOT_NOW)
            self._sum += len(params)
            if self._held + len(params) > ROOM or self._sum > MOST:
                raise RpcError(INVALID, TOO_MUCH)
            self._waiting += 1
            self._held += len(params)
            try:
                return await work(self._calls, asked)
            finally:
                self._waiting -= 1
                self._held -= len(params)

        return method

    async def _update(self, params: bytes) -> None:
        large = len(params) > LARGEST
        brief = msgspec.json.decode(params, type=BriefNotified) if large else None
        said = msgspec.json.decode(params, type=Notified) if brief is None else brief
        if self._record is None or said.session_id != self._session:
            return
        update = said.update.whole() if isinstance(said, BriefNotified) else said.update
        self._record.saw(update, len(params) if brief is None else 0)
        if update.cost is not None:
            self._spent()

    async def _read(self, calls: Calls, asked: ReadFile) -> object:
        return await self._files.read(calls, asked)

    async def _write(self, calls: Calls, asked: WriteFile) -> Any:
        await self._files.write(calls, asked)
        return {}

    async def _create(self, calls: Calls, asked: CreateTerminal) -> object:
        return await self._terminals.create(calls, asked)

    async def _output(self, calls: Calls, asked: OfTerminal) -> object:
        del calls
        return self._terminals.output(asked.terminal_id)

    async def _exit(self, calls: Calls, asked: OfTerminal) -> object:
        del calls
        return await self._terminals.exit(asked.terminal_id)

    async def _kill(self, calls: Calls, asked: OfTerminal) -> Any:
        del calls
        await self._terminals.kill(asked.terminal_id)
        return {}

    async def _release(self, calls: Calls, asked: OfTerminal) -> Any:
        del calls
        await self._terminals.release(asked.terminal_id)
        return {}

    async def _permission(self, calls: Calls, asked: Permission) -> object:
        row = self._record.rows.get(asked.tool_call.tool_call_id) if self._record else None
        return await decided(calls, asked, row.update if row is not None else None)


def _nobody() -> None:
    """No turn is at work."""
