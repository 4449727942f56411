"""One server's end of the wire: requests with their answers, and its own words told on.

What a server says is read into plain data of ours or left out. It can ask us for little, and change
nothing: edits and commands of its own are refused.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

import msgspec

from gatewright.agent.lsp.wire.frames import BadFrame, Frames, framed
from gatewright.agent.lsp.wire.outgoing import Outgoing
from gatewright.tools.protocol import Child
from gatewright.tools.system.patterns import later
from gatewright.tools.system.pipes import Drain
from gatewright.tools.system.untyped_json import shaped

FLOOD, WINDOW = 20_000, 5.0  # messages in seconds: more is no work of a server
CODE = 0.3  # seconds in which a program that says no more has ended
BREATH = 100  # messages between two rests
REGISTERED = 200
_ID = later(rb'"id"\s*:\s*(\d{1,9})\b')
_NOTHING: Final = msgspec.Raw(b"")
_CANCELLED: Final = (-32800, -32801, -32802)  # it says: ask again
_encode = msgspec.json.Encoder().encode


class Problem(msgspec.Struct, frozen=True):
    code: int = 0
    message: str = ""


class Message(msgspec.Struct, frozen=True):
    id: int | str | None = None
    method: str = ""
    params: msgspec.Raw = _NOTHING
    result: msgspec.Raw = _NOTHING
    error: Problem | None = None


class Refused(Exception):
    """The server answers with an error; `again`: it had no time for it."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message[:300] or f"error {problem.code}")
        self.again = problem.code in _CANCELLED


class Gone(Exception):
    """There is no server to answer any more."""


class Listener(Protocol):
    """Who hears what it says by itself."""

    def notified(self, method: str, params: msgspec.Raw) -> None: ...
    def asked(self, method: str, params: msgspec.Raw) -> Any:
        """The answer. LookupError: nobody knows of such a thing."""
        ...


class Connection:
    """Owns the process's pipes. `ended` is done once it speaks no more, with why."""

    def __init__(
        self,
        child: Child,
        our_out: int,
        our_err: int,
        listener: Listener,
        log: Callable[[bytes], None],
    ) -> None:
        self.child, self._listener, self._log = child, listener, log
        self._out = Outgoing(our_out)
        self._errors = Drain(our_err, log)
        self._ids = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[msgspec.Raw]] = {}
        self._counted, self._since = 0, 0.0
        self._loop = asyncio.get_running_loop()
        self.ended: asyncio.Future[str] = self._loop.create_future()
        self._reading = asyncio.create_task(self._read(), name="reading a language server")

    # --- to it ---

    async def request(self, method: str, params: object, seconds: float) -> msgspec.Raw:
        """Its result. Raises Refused, Gone or TimeoutError; one that is given up is cancelled."""
        if self.ended.done():
            raise Gone(self.ended.result())
        number = next(self._ids)
        answer: asyncio.Future[msgspec.Raw] = self._loop.create_future()
        self._waiting[number] = answer
        self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        try:
            async with asyncio.timeout(seconds):
                return await answer
        except (TimeoutError, asyncio.CancelledError):
            self.notify("$/cancelRequest", {"id": number})
            raise
        finally:
            self._waiting.pop(number, None)

    def notify(self, method: str, params: object) -> None:
        if not self.ended.done():
            self._send({"jsonrpc": "2.0", "method": method, "params": params})

    def _send(self, message: Mapping[str, object]) -> None:
        self._out.send(framed(_encode(message)))
        if self._out.stuck:
            self._over("it does not read what it is sent")

    # --- from it ---

    async def _read(self) -> None:
        frames, number = Frames(), 0
        try:
            while chunk := await self.child.read():
                for data in frames.feed(chunk):
                    self._heard(data)
                    number += 1
                    if number % BREATH == 0:
                        self._count()
                        await asyncio.sleep(0)
                if frames.skipped:
                    frames.skipped = 0
                    self._log(b"A message of more than 16 MiB was left out.\n")
            self._over(await self._how_it_ended())
        except BadFrame as error:
            self._over(f"it said something that is not the protocol: {error}")
        except _Floods:
            self._over("it sent more messages than anybody can read")

    async def _how_it_ended(self) -> str:
        """With its code, where that is known soon."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CODE):
                return f"it ended with code {await self.child.wait()}"
        return "it ended"

    def _count(self) -> None:
        now = self._loop.time()
        if now - self._since > WINDOW:
            self._counted, self._since = 0, now
        self._counted += BREATH
        if self._counted > FLOOD:
            raise _Floods

    def _heard(self, data: bytes) -> None:
        try:
            message = shaped(data, Message)
        except (msgspec.DecodeError, RecursionError):
            self._log(b"A message was left out: it is no JSON-RPC.\n")
            self._unread(data)
            return
        if message.method:
            if message.id is None:
                self._listener.notified(message.method, message.params)
            else:
                self._answer(message)
        elif isinstance(message.id, int) and (answer := self._waiting.get(message.id)):
            if answer.done():
                return
            if message.error is not None:
                answer.set_exception(Refused(message.error))
            else:
                answer.set_result(message.result)

    def _unread(self, data: bytes) -> None:
        """Whoever waits for what cannot be read need not wait any longer."""
        found = _ID.search(data)
        answer = self._waiting.get(int(found[1])) if found is not None else None
        if answer is not None and not answer.done():
            answer.set_exception(Refused(Problem(message="its answer is no JSON")))

    def _answer(self, message: Message) -> None:
        said: dict[str, object] = {"jsonrpc": "2.0", "id": message.id}
        try:
            said["result"] = self._listener.asked(message.method, message.params)
        except LookupError:
            said["error"] = {"code": -32601, "message": "This client has no such thing."}
        self._send(said)

    # --- its end ---

    def _over(self, why: str) -> None:
        if self.ended.done():
            return
        self.ended.set_result(why)
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(Gone(why))
        self._waiting.clear()

    async def close(self, grace: float = 0.3) -> None:
        """Nothing of it is left afterwards."""
        self._over("it was ended")
        self._out.close()
        try:
            await self.child.kill(grace)
        finally:
            self._reading.cancel()
            await asyncio.wait([self._reading])
            self._errors.rest()
            self._errors.close()


class _Floods(Exception):
    """Nobody can work through what it says."""


def pipes() -> tuple[int, int, int, int]:
    """Its input and ours to write there; ours to read its errors, and its end of that."""
    their_in, our_out = os.pipe()
    our_err, their_err = os.pipe()
    return their_in, our_out, our_err, their_err


def decoded(raw: msgspec.Raw, kind: Any) -> Any:
    """What of it has that shape; None where it has not."""
    if not bytes(raw):
        return None
    try:
        return msgspec.json.decode(raw, type=kind)
    except (msgspec.DecodeError, RecursionError):
        return None
