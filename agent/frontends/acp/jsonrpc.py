"""JSON-RPC lines with one other program: requests both ways, matched by id, whatever it sends.

What the client sends is parsed into types or answered with an error; nothing of it ends the talk.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import Any, Protocol, TypeAlias

import msgspec

from gatewright.agent.errors import GatewrightError
from gatewright.agent.frontends.acp.intake import LIMIT, Received
from gatewright.agent.frontends.json_lines import Sink, encode
from gatewright.tools.system.untyped_json import Json, obj, shaped

PARSE, INVALID, NO_METHOD, BAD_PARAMS, DEFECT = -32700, -32600, -32601, -32602, -32603
AUTH, NOT_FOUND = -32000, -32002
BROKEN = "An internal error; see ~/.gatewright/logs/errors.log."
MOST = 256  # requests of the other end under way
Id: TypeAlias = int | str | None
Method: TypeAlias = Callable[[bytes], Awaitable[object]]
Log: TypeAlias = Callable[[str, Json], None]

log = logging.getLogger(__name__)


class RpcError(Exception):
    """What a request is answered with; `data` is for programs."""

    def __init__(self, code: int, message: str, data: Json | None = None) -> None:
        super().__init__(message)
        self.code, self.data = code, data

    def body(self) -> Json:
        body: Json = {"code": self.code, "message": str(self)}
        return {**body, "data": self.data} if self.data is not None else body


class Lines(Protocol):
    """What the other end says; None once it says no more."""

    @property
    def limit(self) -> int: ...
    async def next(self) -> Received | None: ...


class Gone(Exception):
    """The client closed its end."""


class _Incoming(msgspec.Struct, frozen=True):
    id: Id | msgspec.UnsetType = msgspec.UNSET
    method: str | msgspec.UnsetType = msgspec.UNSET
    params: msgspec.Raw = msgspec.Raw(b"{}")
    result: msgspec.Raw = msgspec.Raw(b"null")
    error: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


def _nobody(by: str, message: Json) -> None:
    """No log is kept."""


class Peer:
    """`methods` answer requests, `heard` take notifications; each begins in the order they came.

    Who is asked something is the client; its answer to what nobody asked is dropped.
    """

    def __init__(self, out: Sink, log: Log = _nobody, *, most: int = MOST) -> None:
        self._out, self._log, self._most = out, log, most
        self.methods: dict[str, Method] = {}
        self.heard: dict[str, Method] = {}
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._next = 0
        self._doing: set[asyncio.Task[None]] = set()
        self._gone = False  # nobody reads what we say
        self._silent = False  # nobody answers what we ask

    async def run(self, intake: Lines) -> None:
        """Until the client closes its end."""
        while (line := await intake.next()) is not None:
            if line.too_long:
                self._fail(None, RpcError(INVALID, f"A line has more than {intake.limit:,} bytes."))
            elif line.data.strip():
                self._take(line.data)

    async def close(self) -> None:
        """Nothing is answered any more."""
        self.leave()
        for task in self._doing:
            task.cancel()
        await asyncio.gather(*self._doing, return_exceptions=True)

    async def settle(self, seconds: float) -> None:
        """The client says no more: what it asked before may still be answered, for a while."""
        self._unanswered()
        if self._doing:
            await asyncio.wait(self._doing, timeout=seconds)

    def leave(self) -> None:
        """The client is gone: whoever waits for it is told."""
        self._gone = True
        self._unanswered()

    def _unanswered(self) -> None:
        self._silent = True
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(Gone())
        self._waiting.clear()

    # what we say

    def notify(self, method: str, params: Json) -> None:
        self._send({"jsonrpc": "2.0", "method": method, "params": params})

    async def request(self, method: str, params: Json) -> Any:
        """What the client answers. Raises RpcError where it refuses, Gone where it left."""
        if self._silent:
            raise Gone
        self._next += 1
        id, future = self._next, asyncio.get_running_loop().create_future()
        self._waiting[id] = future
        self._send({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
        try:
            return await future
        finally:
            self._waiting.pop(id, None)

    def _send(self, message: Json) -> None:
        if not self._gone:
            self._log("agent", message)
            self._out.write(encode(message))

    def _fail(self, id: Id, error: RpcError) -> None:
        self._send({"jsonrpc": "2.0", "id": id, "error": error.body()})

    # what the client says

    def _take(self, line: bytes) -> None:
        try:
            message = shaped(line, _Incoming, mended=LIMIT)
        except msgspec.ValidationError as error:
            self._fail(None, RpcError(INVALID, f"This is no JSON-RPC message: {error}."))
            return
        except (msgspec.DecodeError, RecursionError) as error:
            self._fail(None, RpcError(PARSE, f"This is no JSON: {error}."))
            return
        if self._log is not _nobody:
            self._log("client", obj(_value(line)))
        if message.method is not msgspec.UNSET:
            self._called(message.method, message)
        elif isinstance(message.id, int):
            self._answered(message.id, message)
        elif message.id is msgspec.UNSET:
            self._fail(None, RpcError(INVALID, "A message has a method or an id."))

    def _called(self, method: str, message: _Incoming) -> None:
        params = bytes(message.params)
        if message.id is msgspec.UNSET:
            if (hears := self.heard.get(method)) is not None and len(self._doing) < 2 * self._most:
                self._begin(self._hear(hears, params), message.id)
        elif (answers := self.methods.get(method)) is None:
            self._fail(message.id, RpcError(NO_METHOD, f"There is no method {method[:80]} here."))
        elif len(self._doing) >= self._most:
            told = f"{self._most} requests wait for an answer already."
            self._fail(message.id, RpcError(DEFECT, told))
        else:
            self._begin(self._answer(message.id, answers, params), message.id)

    def _begin(self, work: Coroutine[Any, Any, None], id: Id | msgspec.UnsetType) -> None:
        task = asyncio.create_task(work, name="what a client asked for")
        self._doing.add(task)
        task.add_done_callback(partial(self._done, id))

    def _done(self, id: Id | msgspec.UnsetType, task: asyncio.Task[None]) -> None:
        self._doing.discard(task)
        if not task.cancelled() and (defect := task.exception()) is not None:
            log.error("what a client asked for failed", exc_info=defect)
            if id is not msgspec.UNSET:
                self._fail(id, RpcError(DEFECT, BROKEN))

    async def _hear(self, hears: Method, params: bytes) -> None:
        try:
            await hears(params)
        except (RpcError, GatewrightError, msgspec.MsgspecError, RecursionError) as error:
            log.info("a notification of a client was not understood: %s", error)

    async def _answer(self, id: Id, answers: Method, params: bytes) -> None:
        try:
            result = await answers(params)
        except RpcError as error:
            self._fail(id, error)
        except (msgspec.MsgspecError, RecursionError) as error:
            self._fail(id, RpcError(BAD_PARAMS, f"Its params are not understood: {error}."))
        except GatewrightError as error:
            self._fail(id, RpcError(DEFECT, str(error)))
        else:
            self._send({"jsonrpc": "2.0", "id": id, "result": result})

    def _answered(self, id: int, message: _Incoming) -> None:
        future = self._waiting.get(id)
        if future is None or future.done():
            return
        if message.error is msgspec.UNSET:
            future.set_result(_value(message.result))
            return
        error = obj(_value(message.error))
        future.set_exception(RpcError(DEFECT, str(error.get("message") or "no reason given")[:500]))


def _value(raw: bytes | msgspec.Raw) -> Any:
    """JSON of no promised shape; None for what nests too deep to be any."""
    try:
        return shaped(bytes(raw), object, mended=LIMIT)
    except (msgspec.DecodeError, RecursionError):
        return None
