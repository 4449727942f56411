"""An agent's turns in another program: its process lives as long as the agent, its session too.

What is typed goes to it as prompts; what it says is told as ours would be; what it asks for are
calls of the agent. Whatever hangs, a turn that is stopped ends, and nothing of it is left.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, TypeVar

import msgspec

from gatewright.agent.agents.inert_text import in_line
from gatewright.agent.errors import SessionError
from gatewright.agent.foreign.answering import Answering
from gatewright.agent.foreign.calls import Calls, Halt
from gatewright.agent.foreign.files import Files
from gatewright.agent.foreign.prompting import Prompting
from gatewright.agent.foreign.recording import Paid, Recording
from gatewright.agent.foreign.said import Initialized, Opened, Prompted
from gatewright.agent.foreign.talk import Gone, Start, Talk, begun
from gatewright.agent.frontends.acp.jsonrpc import RpcError
from gatewright.agent.record.events import TurnEnded, TurnStarted
from gatewright.agent.turn.loop import DEFECT
from gatewright.agent.turn.stop import Stop
from gatewright.agent.turn.turns import Ground, Turn
from gatewright.agent.version import VERSION
from gatewright.tools.protocol import ToolFailure
from gatewright.tools.system.untyped_json import Json

SPEAKS = 1  # the version of the protocol
HELLO: Json = {
    "protocolVersion": SPEAKS,
    "clientCapabilities": {"fs": {"readTextFile": True, "writeTextFile": True}, "terminal": True},
    "clientInfo": {"name": "gatewright", "title": "Gatewright", "version": VERSION},
}
STOPS = {
    "end_turn": Halt(Stop.COMPLETED),
    "max_tokens": Halt(Stop.MODEL_ERROR, "It reached the output limit of its model."),
    "max_turn_requests": Halt(Stop.MAX_TURNS, "It reached a limit of its own."),
    "refusal": Halt(Stop.MODEL_ERROR, "Its model declined to answer."),
    "cancelled": Halt(Stop.MODEL_ERROR, "It gave its work up, which nobody had asked for."),
}
T = TypeVar("T")


class Patience(msgspec.Struct, frozen=True):
    """Seconds: for its first answers, for a word of it in a turn, and for its end when stopped."""

    greeting: float = 120.0
    silence: float = 900.0
    stopping: float = 2.0


class Ports(msgspec.Struct, frozen=True, kw_only=True):
    """What such turns need besides the ground of all turns."""

    kind: str
    program: str  # as people know it
    opening: str  # what it is told before its first task
    start: Start
    files: Files
    patience: Patience = Patience()


class ForeignTurns:
    """Implements `Turns`."""

    def __init__(self, ground: Ground, ports: Ports) -> None:
        self._ground, self._ports = ground, ports
        self._prompting = Prompting(ground.talk, ports.opening)
        self._talk: Talk | None = None
        self._session = ""
        self._paid = Paid()  # of this session of it
        self._answering: Answering | None = None
        self._asked: asyncio.Task[Any] | None = None  # the prompt that is not answered yet

    async def ready(self) -> Turn:
        # One that was not given the time to end its last prompt is not asked again.
        if self._talk is None or self._talk.ended.done() or self._asked is not None:
            await self.close()
            await self._begin()
        return self._turn

    async def close(self) -> None:
        talk, self._talk, self._answering, self._asked = self._talk, None, None, None
        if talk is not None:
            await talk.close()

    # its process

    async def _begin(self) -> None:
        name = self._ports.kind
        try:
            talk = self._talk = await begun(self._ports.start)
        except (ToolFailure, OSError) as error:
            raise SessionError(f"{name} cannot be started. {error}") from None
        try:
            await self._greet(talk)
        except BaseException as error:
            await self.close()
            if isinstance(error, Gone):
                raise SessionError(f"{name} did not begin: {talk.ended.result()}.") from None
            if isinstance(error, TimeoutError):
                limit = f"{self._ports.patience.greeting:.0f} s"
                raise SessionError(f"{name} did not answer within {limit}.") from None
            raise

    async def _greet(self, talk: Talk) -> None:
        ground, name, limit = self._ground, self._ports.kind, self._ports.patience.greeting
        try:
            hello = read(await talk.request("initialize", HELLO, limit), Initialized)
            if hello.protocol_version != SPEAKS:
                raise SessionError(
                    f"{name} speaks version {hello.protocol_version} of the Agent Client Protocol, "
                    f"and version {SPEAKS} is needed: install another version of "
                    f"{self._ports.program}."
                )
            place: Json = {"cwd": str(ground.where().cwd), "mcpServers": []}
            opened = read(await talk.request("session/new", place, limit), Opened)
        except RpcError as error:
            raise SessionError(
                f"{name} opened no session. It says: {in_line(str(error))}. If it wants a login, "
                f"log in with {self._ports.program} itself first, or give it its key with acp.env."
            ) from None
        except msgspec.ValidationError as error:
            raise SessionError(f"{name} answers what is not the protocol: {error}.") from None
        self._session, self._paid = opened.session_id, Paid()
        self._prompting.anew(images=hello.images)
        self._answering = Answering(talk, opened.session_id, self._ports.files)

    # a turn

    async def _turn(self) -> Stop:
        ground, began = self._ground, self._ground.clock.monotonic()
        talk, answering = self._talk, self._answering
        assert talk is not None
        assert answering is not None
        record = Recording(ground.emit, self._ports.kind, self._paid)
        halted: asyncio.Future[Halt] = asyncio.get_running_loop().create_future()

        def halt(why: Halt) -> None:
            if not halted.done():
                halted.set_result(why)

        calls = Calls(ground, record, halt)
        ground.emit(TurnStarted())
        end, prompts = Halt(Stop.MODEL_ERROR, DEFECT), 0
        answering.begin(record, calls, lambda: self._budgeted(halt))
        try:
            while True:
                prompts += 1
                end = self._over_budget() or await self._prompted(talk, record, halted)
                if end.stop is not Stop.COMPLETED or not await ground.inputs():
                    break
        except asyncio.CancelledError:
            stop = Stop.ABORTED_TOOLS if calls.running else Stop.ABORTED_STREAMING
            end = Halt(stop, "Interrupted.")
            talk.peer.notify("session/cancel", {"sessionId": self._session})
            raise
        finally:
            try:
                await answering.stop(calls)
            finally:
                record.finish(cut=end.stop is not Stop.COMPLETED)
                ground.emit(
                    TurnEnded(
                        stop=end.stop,
                        message=end.message,
                        usage=record.usage,
                        cost=record.cost,
                        requests=prompts,
                        ms=round((ground.clock.monotonic() - began) * 1000),
                    )
                )
            await self._quiet(talk)
        with suppress(OSError):
            await ground.barrier()
        return end.stop

    async def _prompted(self, talk: Talk, record: Recording, halted: asyncio.Future[Halt]) -> Halt:
        """One prompt and its end: it says so, somebody ends it, or it says nothing any more."""
        blocks: Sequence[Any] = self._prompting.blocks()
        asked: Json = {"sessionId": self._session, "prompt": blocks}
        self._asked = answer = asyncio.create_task(
            talk.peer.request("session/prompt", asked), name=f"a prompt for {self._ports.kind}"
        )
        answer.add_done_callback(_retrieved)
        loop, silence = asyncio.get_running_loop(), self._ports.patience.silence
        talk.heard = loop.time()
        while True:
            left = talk.heard + silence - loop.time()
            await asyncio.wait({answer, halted}, timeout=left, return_when=asyncio.FIRST_COMPLETED)
            if halted.done():
                talk.peer.notify("session/cancel", {"sessionId": self._session})
                return halted.result()
            if answer.done():
                return self._ended(talk, record, answer)
            if self._answering is not None and self._answering.busy:
                talk.heard = loop.time()  # it waits for us, or for the person
            elif talk.heard + silence <= loop.time():
                talk.peer.notify("session/cancel", {"sessionId": self._session})
                return Halt(Stop.MODEL_ERROR, f"It said nothing for {silence:.0f} s.")

    def _ended(self, talk: Talk, record: Recording, answer: asyncio.Task[Any]) -> Halt:
        try:
            said = read(answer.result(), Prompted)
        except Gone:
            why = talk.ended.result() if talk.ended.done() else "it is gone"
            return Halt(Stop.MODEL_ERROR, f"{self._ports.kind} broke off: {why}.")
        except RpcError as error:
            return Halt(Stop.MODEL_ERROR, f"{self._ports.kind} failed: {in_line(str(error))}")
        except msgspec.ValidationError as error:
            return Halt(Stop.MODEL_ERROR, f"Its answer is not the protocol: {error}.")
        if said.usage is not None:
            record.paid(said.usage)
        strange = f"It ended in a way that nobody knows: {in_line(said.stop_reason)[:80]}."
        return STOPS.get(said.stop_reason, Halt(Stop.MODEL_ERROR, strange))

    async def _quiet(self, talk: Talk) -> None:
        """The prompt is over for it, too, or its process is."""
        answer = self._asked
        if answer is None:
            return
        try:
            await asyncio.wait({answer}, timeout=self._ports.patience.stopping)
        finally:
            self._asked = None
            if not answer.done():
                answer.cancel()
                await talk.close()

    # what it may use up

    def _over_budget(self) -> Halt | None:
        for budget in self._ground.budgets:
            if over := budget.over():
                return Halt(Stop.BUDGET_EXHAUSTED, over)
        return None

    def _budgeted(self, halt: Any) -> None:
        """After each word about money."""
        if (over := self._over_budget()) is not None:
            halt(over)


def _retrieved(answer: asyncio.Task[Any]) -> None:
    """Where the turn was ended nobody waits for it any more."""
    if not answer.cancelled():
        answer.exception()


def read(value: Any, kind: type[T]) -> T:
    """Raises msgspec.ValidationError."""
    return msgspec.convert(value, kind)
