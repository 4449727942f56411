"""Turns of one session as a front end without a screen sees them: in order, each with one end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from gatewright.agent.commands.outcome import Scope
from gatewright.agent.frontends.background import Background
from gatewright.agent.frontends.json_lines import Sink
from gatewright.agent.frontends.must_know import Told
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.record.events import (
    AssistantMessage,
    Envelope,
    SessionStarted,
    TurnEnded,
)
from gatewright.agent.record.hub import Below
from gatewright.agent.record.messages import TextPart
from gatewright.agent.session.session import Session
from gatewright.agent.text.printable import visible
from gatewright.agent.turn.stop import Stop
from gatewright.tools.access import MAIN
from gatewright.tools.protocol import Content

if TYPE_CHECKING:
    from gatewright.agent.turn.structured_answer import Shape


CORRECTIONS = 2
CRASHED = "The turn crashed; agent --debug writes a log that shows where."
UNSENT = "The input was not sent: {reason}"
MISSHAPEN = "The answer does not satisfy the schema: {problem}"


class Words(NamedTuple):
    """A message, what of its text the person wrote (None: all of it), what a command brought."""

    text: str
    attachments: tuple[Content, ...]
    typed: str | None
    scope: Scope | None = None


class Follower:
    """Submits messages and hands out what happens. Stored history is left out.

    Where no `more` messages come, a turn takes as long as work in the background that is waited
    for. `below` are events of agents that are wanted beside those that all are told. With a
    shape, an answer that does not satisfy it is sent back a few times; the turns this takes
    are one turn to the outside.
    """

    def __init__(
        self,
        session: Session,
        shape: Shape | None = None,
        below: Below = (),
        *,
        more: bool = False,
    ) -> None:
        self._session = session
        self._more = more
        self._shape = shape
        self._subscription = session.subscribe(below=below)
        self.background = Background(session)
        self._first = True
        self._left = False  # somebody stopped listening in mid-turn

    def close(self) -> None:
        self._subscription.close()

    async def turn(
        self,
        text: str,
        attachments: tuple[Content, ...] = (),
        *,
        typed: str | None = None,
        scope: Scope | None = None,
    ) -> AsyncGenerator[Envelope]:
        """From the message to the end of its turn; `typed` and `scope` as in `Session.submit`."""
        if self._left:
            await self._session.idle()
            self._subscription.waiting()
        self._left = True
        async for envelope in self._turn(Words(text, attachments, typed, scope)):
            yield envelope
        self._left = False

    def so_far(self) -> list[Envelope]:
        """What happened since this process began, where no turn is asked for."""
        return self._own(self._subscription.waiting())

    async def meanwhile(self, until: asyncio.Future[Any]) -> AsyncGenerator[Envelope]:
        """What happens by itself, such as a turn that a finished background command wakes.

        Ends once `until` is done and nothing runs.
        """

        async def over() -> None:
            await asyncio.wait({until})
            await self._session.idle()

        async for envelope in self._while(asyncio.create_task(over())):
            yield envelope

    async def rest(self) -> AsyncGenerator[Envelope]:
        """What happens until work in the background is over: no message will come any more."""
        async for envelope in self._while(asyncio.create_task(self.background.over())):
            yield envelope

    async def _turn(self, words: Words) -> AsyncGenerator[Envelope]:
        if self._shape is None:
            self._submit(words)
            async for envelope in self._while(asyncio.create_task(self._over())):
                yield envelope
            return
        async for envelope in self._corrected(self._shape, words):
            yield envelope

    def _submit(self, words: Words) -> None:
        text, attachments, typed, scope = words
        if (
            not text and not attachments
        ):  # a call that was put off, or what hooks have it begin with
            if not self._session.busy and not self.background.working:
                self._session.tell("")
            return
        self._session.submit(text, attachments, typed=typed, scope=scope)

    async def _corrected(self, shape: Shape, words: Words) -> AsyncGenerator[Envelope]:
        from gatewright.agent.turn.structured_answer import CORRECTION  # noqa: PLC0415  lazy: with a schema

        corrections = CORRECTIONS
        before: TurnEnded | None = None
        answer = ""
        while True:
            self._submit(words)
            held: Envelope | None = None
            async for envelope in self._while(asyncio.create_task(self._over())):
                match envelope.event:
                    case AssistantMessage() as message if envelope.agent == MAIN:
                        answer = text_of(message)
                    case TurnEnded() as ended if envelope.agent == MAIN:
                        before = ended if before is None else added(before, ended)
                        held = msgspec.structs.replace(envelope, event=before)
                        continue
                    case _:
                        pass
                yield envelope
            if held is None:
                return
            assert isinstance(held.event, TurnEnded)
            complete = held.event.stop is Stop.COMPLETED
            problem = shape.problem(answer) if complete else ""
            if not problem or not corrections:
                yield held
                return
            corrections -= 1
            words = Words(CORRECTION.format(problem=problem), (), "", words.scope)

    async def _over(self) -> None:
        await (self._session.idle() if self._more else self.background.over())

    async def _while(self, over: asyncio.Task[None]) -> AsyncGenerator[Envelope]:
        """Events until `over` is done and none is left."""
        try:
            while True:
                news = asyncio.create_task(self._subscription.batch())
                try:
                    await asyncio.wait({news, over}, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    news.cancel()  # else it takes what a later turn waits for
                await asyncio.wait({news})
                batch = [] if news.cancelled() else news.result()
                batch = batch or self._subscription.waiting()
                if not batch:
                    return
                for envelope in self._own(batch):
                    yield envelope
        finally:
            over.cancel()

    def _own(self, batch: list[Envelope]) -> list[Envelope]:
        """What this process did; history comes first, all in one batch."""
        if not self._first:
            return batch
        self._first = False
        return from_start(batch)


def tell(envelopes: Iterable[Envelope], told: Told, err: Sink) -> None:
    """What standard error says of these in every output format."""
    for envelope in envelopes:
        if line := told.line(envelope):
            err.write(visible(f"{line}\n"))


def shape_of(options: LaunchOptions) -> Shape | None:
    if not options.json_schema:
        return None
    from gatewright.agent.turn.structured_answer import Shape  # noqa: PLC0415  lazy: 1 ms

    return Shape(options.json_schema)


def text_of(message: AssistantMessage) -> str:
    return "".join(part.text for part in message.parts if isinstance(part, TextPart))


def from_start(backlog: list[Envelope]) -> list[Envelope]:
    """The part of a backlog that this process made."""
    for at in range(len(backlog) - 1, -1, -1):
        if isinstance(backlog[at].event, SessionStarted):
            return backlog[at:]
    return backlog


def added(one: TurnEnded, two: TurnEnded) -> TurnEnded:
    """Two turns as one: the later end, and the sums."""
    return msgspec.structs.replace(
        two,
        usage=one.usage.plus(two.usage),
        cost=one.cost + two.cost,
        requests=one.requests + two.requests,
        ms=one.ms + two.ms,
        api_ms=one.api_ms + two.api_ms,
        waited=one.waited + two.waited,
    )
