"""A conversation over standard streams: messages and control requests in, objects out.

Every message gets a turn and a result of its own, in order; control requests are answered at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from gatewright.agent.commands.outcome import Submit
from gatewright.agent.frontends.json_lines import Sink, encode
from gatewright.agent.frontends.must_know import Told
from gatewright.agent.frontends.reader import LineReader
from gatewright.agent.frontends.sdk.consent import Consent
from gatewright.agent.frontends.sdk.control import Client
from gatewright.agent.frontends.sdk.requests import Requests, Unanswerable
from gatewright.agent.frontends.sdk.session_state import SessionState, wanted
from gatewright.agent.frontends.sdk.stream_json import Dialect
from gatewright.agent.frontends.slash_text import command, no_command
from gatewright.agent.frontends.turn import Follower, tell
from gatewright.agent.launch.exits import BadInput, Exit
from gatewright.agent.record.events import Answered, Asked, Envelope, TurnEnded
from gatewright.agent.session.session import Session
from gatewright.tools.access import MAIN
from gatewright.tools.interact import Answer
from gatewright.tools.protocol import Content, ImageContent
from gatewright.tools.system.untyped_json import Json, items, obj

if TYPE_CHECKING:
    from gatewright.agent.client.serving import Served
    from gatewright.agent.frontends.sdk.prompt_tool import PromptTool


class Message(msgspec.Struct, frozen=True):
    """What one user message says; a `verbatim` text is never taken for a command."""

    text: str
    attachments: tuple[Content, ...] = ()
    verbatim: bool = False


class Ends(msgspec.Struct, frozen=True):
    """The three standard streams."""

    out: Sink
    err: Sink
    reader: LineReader


class Duplex:
    """One session for as long as the client sends."""

    def __init__(
        self,
        session: Session,
        follower: Follower,
        dialect: Dialect,
        ends: Ends,
        *,
        asks: bool,
    ) -> None:
        self._session = session
        self._follower = follower
        self._dialect = dialect
        self._out, self._err, self._reader = ends.out, ends.err, ends.reader
        self._told = Told()
        self._asks = asks
        self._client = Client(ends.out, dialect.new_id)
        self._consent = Consent(self._client, session)
        self._requests = Requests(session, self._client, dialect.agents)
        self._messages: asyncio.Queue[Message | None] = asyncio.Queue()
        self._questions: dict[int, asyncio.Task[None]] = {}
        self._code: Exit | None = Exit.OK
        self._served: Served | None = None
        self._state: SessionState | None = None
        self._coming: asyncio.Task[Message | None] | None = None  # while nothing else is to be done
        self.tool: PromptTool | None = None  # answers in the client's place

    def serve(self) -> None:
        """The client shows the session itself: it gets its events, and answers its questions."""
        from gatewright.agent.client.serving import Served  # noqa: PLC0415  lazy: 5 ms

        self._served = Served(self._session, self._out)

    def tells_state(self, env: Mapping[str, str]) -> None:
        """Whether there is anything left to do is told, where the client's variables ask for it."""
        asked, hidden = wanted(env)
        if asked:
            self._state = SessionState(
                self._session,
                lambda line: self._out.write(encode(self._dialect.line(line))),
                owed=self._owed,
                asking=lambda: bool(self._questions),
                hidden=hidden,
            )

    def _owed(self) -> bool:
        """A turn is to come: for a message, or once an agent has ended that still works."""
        resting = self._coming is not None and not self._coming.done() and self._messages.empty()
        return not resting or self._follower.background.working

    async def run(self) -> int:
        """Until the input ends and the last turn with it; the exit code of that turn."""
        reading = asyncio.create_task(self._read())
        try:
            await (self._turns() if self._served is None else self._until_left(reading))
            await reading  # raises BadInput where a line was none
            return Exit.ERROR if self._code is None else self._code
        finally:
            for task in (reading, *self._questions.values()):
                task.cancel()
            await asyncio.gather(reading, return_exceptions=True)
            if self._state is not None:
                self._state.close()
            if self._served is not None:
                await self._served.close()

    async def _until_left(self, reading: asyncio.Task[None]) -> None:
        """Nobody looks any more once the input has ended: what runs is stopped with the session."""
        turns = asyncio.create_task(self._turns())
        try:
            await asyncio.wait([turns, reading], return_when=asyncio.FIRST_COMPLETED)
        finally:
            turns.cancel()
            await asyncio.wait([turns])
        if not turns.cancelled():
            turns.result()  # raises its defect

    async def _turns(self) -> None:
        while (message := await self._next()) is not None:
            plain = message.verbatim or message.attachments
            if not plain and (wrong := no_command(self._session, message.text)):
                self._out.write(encode(self._dialect.command_result(wrong)))
                continue
            said = Submit(message.text) if plain else await command(self._session, message.text)
            if isinstance(said, str):
                self._out.write(encode(self._dialect.command_result(said)))
                continue
            self._requests.interrupted = False
            asked = self._follower.turn(said.text, message.attachments, scope=said.scope)
            async for envelope in asked:
                self._take_up(envelope)
        async for envelope in self._follower.rest():
            self._take_up(envelope)
        self._follower.background.tell(self._err)

    async def _next(self) -> Message | None:
        """The next message; what happens until it comes is printed as it happens."""
        coming = self._coming = asyncio.create_task(self._messages.get())
        self._look()
        try:
            async for envelope in self._follower.meanwhile(coming):
                self._take_up(envelope)
            return await coming
        finally:
            self._coming = None
            coming.cancel()

    def _look(self) -> None:
        if self._state is not None:
            self._state.look()

    def _take_up(self, envelope: Envelope) -> None:
        for line in self._dialect.lines(envelope):
            self._out.write(encode(line))
        tell((envelope,), self._told, self._err)
        if self.tool is not None:
            self.tool.saw(envelope)
        self._follow(envelope)
        self._look()
        if self._state is not None and isinstance(envelope.event, TurnEnded):
            self._state.turn_ended()

    async def _read(self) -> None:
        try:
            while (line := await self._reader.next()) is not None:
                if line.strip():
                    await self._take(parse(line))
        finally:
            self._client.gone()
            self._messages.put_nowait(None)

    async def _take(self, line: Json) -> None:
        match line.get("type"):
            case "user":
                self._messages.put_nowait(message_of(line))
            case "control_request":
                await self._control(str(line.get("request_id", "")), line.get("request"))
            case "control_response":
                self._client.answered(obj(line.get("response")))
            case _:
                pass  # newer clients may say more than we know

    async def _control(self, id: str, body: object) -> None:
        if self._served is not None and self._served.knows(obj(body).get("subtype")):
            self._served.take(id, body)
            return
        try:
            self._client.reply(id, await self._requests.handle(obj(body)))
        except Unanswerable as error:
            self._client.refuse(id, str(error))

    def _follow(self, envelope: Envelope) -> None:
        match envelope.event:
            case Asked() as asked:
                asking = self._ask(asked, envelope.agent)
                self._questions[asked.id] = asyncio.create_task(asking)
            case Answered(id=id):
                if (task := self._questions.pop(id, None)) is not None and not task.done():
                    task.cancel()
            case TurnEnded() if envelope.agent == MAIN:
                self._code = Exit.OK if self._requests.interrupted else self._dialect.code
            case _:
                pass

    async def _ask(self, asked: Asked, agent: str) -> None:
        if self._served is not None or self.tool is not None:
            return
        if asked.ask.kind == "trust" or not self._asks:
            # A client speaks for its user about calls, not about whose configuration to believe.
            self._session.answer(asked.id, Answer(cancelled=True))
            return
        input = self._dialect.input_of(asked.ask.call_id, agent)
        answer = await self._consent.answer(asked, input, agent)
        self._questions.pop(asked.id, None)
        self._look()
        self._session.answer(asked.id, answer)


def parse(line: str) -> Json:
    """One line of input. Raises BadInput."""
    try:
        return msgspec.json.decode(line, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadInput(f"Standard input is not stream-json: {error}: {line[:80]}") from error


def message_of(line: Json) -> Message:
    """The text and pictures of a user message. Raises BadInput."""
    content = obj(line.get("message")).get("content")
    verbatim = line.get("client_composed") is True
    if isinstance(content, str):
        return Message(content, verbatim=verbatim)
    blocks = [obj(block) for block in items(content)]
    if not blocks:
        raise BadInput("A user message needs message.content: text, or a list of blocks.")
    texts = [str(block.get("text", "")) for block in blocks if block.get("type") == "text"]
    return Message("\n\n".join(texts), tuple(_pictures(blocks)), verbatim)


def _pictures(blocks: Sequence[Json]) -> Iterator[Content]:
    for block in blocks:
        if block.get("type") == "image" and (source := obj(block.get("source"))):
            yield ImageContent(str(source.get("media_type")), str(source.get("data", "")))
