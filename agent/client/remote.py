"""A session at the other end of a line, as the port that front ends know.

Nothing of it runs here: what is known comes from its lines, what is asked goes over as requests.
When the line ends, everything that waits is answered with the sentence that says why.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, cast

import msgspec
from msgspec.structs import replace

from gatewright.agent.client.far_facts import FarFacts
from gatewright.agent.client.far_line import FarRequests, Line, LineEnded, taken_back
from gatewright.agent.client.far_offers import FarOffers
from gatewright.agent.client.far_state import FarState
from gatewright.agent.client.port import Give, StatusSource, Taken
from gatewright.agent.client.session_lines import (
    VERSION,
    AnyRequest,
    ApplyChange,
    CommandsChanged,
    CycleMode,
    FactsChanged,
    Follow,
    FromSession,
    GiveAnswer,
    Happened,
    HappenedThere,
    Hello,
    Interrupt,
    KeepSetting,
    Listed,
    Mentions,
    Opened,
    Remember,
    Responded,
    ResumeAgent,
    RunCommand,
    SendMessage,
    StopAgent,
    TakeBack,
    ToBackground,
    Typing,
    WeighRules,
)
from gatewright.agent.client.watches import FarWatches
from gatewright.agent.commands.outcome import (
    Change,
    ClearHistory,
    Outcome,
    SetEffort,
    SetMode,
    SetModel,
    Submit,
)
from gatewright.agent.commands.registry import Command, CommandContext, Commands, Front, Mention
from gatewright.agent.errors import SessionError
from gatewright.agent.record.codec import WireError, decode
from gatewright.agent.record.events import AnyEvent, InputRefused, Noticed
from gatewright.agent.record.hub import Subscription
from gatewright.agent.record.ids import new_id
from gatewright.agent.record.journal import Journal
from gatewright.tools.access import MAIN
from gatewright.tools.interact import Answer, Weighed

HELLO_LIMIT = 10.0
SLICE = 0.01  # seconds of taking in lines that always come, until everybody else has a turn
LAST = 1.0  # seconds for what was written last, once the other end has ended
SILENT = "Nothing was heard of the session within {seconds:.0f} s."
STRANGE = "The session sent a line that is not understood here, so this end was closed: {cut}"
OTHER = (
    "The session speaks version {theirs} of its lines and this program version {ours}. "
    "Install the same version of the program at both ends."
)
CUT = 80


class _Kind(msgspec.Struct, frozen=True):
    type: str = ""


_TOLD = ("hello", "facts", "commands", "event", "agent_event")
_KNOWN = {*(f"session_{each}" for each in _TOLD), "control_response"}
_kind = msgspec.json.Decoder(_Kind)
_line = msgspec.json.Decoder(cast("type[FromSession]", FromSession))


def read(line: bytes) -> FromSession | None:
    """One line of the session; None for those of the public dialect. Raises LineEnded."""
    try:
        return _line.decode(line) if _kind.decode(line).type in _KNOWN else None
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise _strange(line) from error


def _strange(line: bytes) -> LineEnded:
    return LineEnded(STRANGE.format(cut=line[:CUT].decode("utf-8", "replace")))


async def join(line: Line, *, within: float = HELLO_LIMIT) -> RemoteSession:
    """The session, once it has said hello and told what is kept. Raises SessionError."""
    joined: RemoteSession | None = None
    try:
        async with asyncio.timeout(within):
            joined = RemoteSession(line, await _hello(line))
            await joined.follow()
    except (SessionError, TimeoutError) as error:
        await line.close(at_once=True)
        if joined is not None:
            await joined.close()
        silent = isinstance(error, TimeoutError)
        why = SILENT.format(seconds=within) if silent else str(error)
        raise SessionError(why) from error
    return joined


async def _hello(line: Line) -> Hello:
    while not isinstance(first := read(await line.next()), Hello):
        if first is not None:
            raise LineEnded(STRANGE.format(cut="no hello"))
    if first.version != VERSION:
        raise LineEnded(OTHER.format(theirs=first.version, ours=VERSION))
    return first


def _unread(future: asyncio.Future[dict[str, Any]]) -> None:
    """An end that does not know it has nothing to make ready."""
    if not future.cancelled():
        future.exception()


class RemoteSession(FarFacts):
    """Implements `SessionClient`."""

    def __init__(self, line: Line, hello: Hello, *, clock: Callable[[], float] = time.time) -> None:
        self._line = line
        super().__init__(FarState(hello.facts))
        self._listed = hello.commands
        self._requests = FarRequests(line)
        self._watches = FarWatches(self._requests.ask)
        self.watch = self._watches.open
        self._offers = FarOffers(self._found)
        self._commands = Commands(self._known)
        self._journal = Journal(clock=clock, new_id=new_id)
        self._journal.begin(())
        self._changed = asyncio.Event()
        self._gone = ""
        self._closing = False
        self._reading = asyncio.create_task(self._read(), name="lines of the session")

    # what it is

    @property
    def busy(self) -> bool:
        return self._state.busy

    @property
    def status(self) -> StatusSource | None:
        return None  # its command is one of the machine where the session runs

    def status_input(self, vim: str) -> bytes:
        del vim
        return b"{}"

    @property
    def commands(self) -> Commands:
        return self._commands

    def _known(self) -> Sequence[Command]:
        return [self._command(listed) for listed in self._listed]

    def _command(self, listed: Listed) -> Command:
        async def run(context: CommandContext) -> Outcome:
            line = context.raw or f"/{context.name} {context.args}".rstrip()
            return await self.run_command(line, context.front)

        name, summary, args = listed.name, listed.summary, listed.args
        return Command(
            name=name,
            summary=summary,
            run=run,
            args=args,
            aliases=listed.aliases,
            source=listed.source,
        )

    # what happens

    def subscribe(self, *, since: int = 0) -> Subscription:
        return self._journal.hub().subscribe(since=since)

    async def follow(self) -> None:  # what is kept, and what happens from now on
        await self._requests.ask(Follow())

    async def opened(self) -> None:
        with suppress(SessionError):  # that the line has ended is told
            await self._requests.ask(Opened())

    async def idle(self) -> None:
        while self.busy and not self._gone:
            self._changed.clear()
            await self._changed.wait()

    async def _read(self) -> None:
        loop = asyncio.get_running_loop()
        since = loop.time()
        try:
            while True:
                line = await self._line.next()
                if (told := read(line)) is not None:
                    self._take(told, line)
                if loop.time() - since > SLICE:
                    await asyncio.sleep(0)
                    since = loop.time()
        except LineEnded as error:
            self._lost(str(error))
            await self._line.close(at_once=True)

    def _take(self, told: FromSession, line: bytes) -> None:
        match told:
            case Happened() | HappenedThere():
                try:
                    self._heard(told)
                except WireError as error:
                    raise _strange(line) from error
            case FactsChanged(facts=facts):
                self._state.facts = facts
                self._changed.set()
            case CommandsChanged(commands=commands):
                self._listed = commands
                self._commands.changed()
            case Responded():
                self._requests.answered(told)
            case Hello():
                raise _strange(line)

    def _heard(self, told: Happened | HappenedThere) -> None:
        if isinstance(told, HappenedThere):
            self._watches.take(told)
        else:
            envelope = decode(bytes(told.event))
            self._state.saw(envelope)
            self._journal.relay(envelope)

    def _lost(self, why: str) -> None:
        self._gone = why
        self._requests.end(why)
        self._watches.end()
        if not self._closing:
            for event in self._state.ends(why):
                self._publish(event)
        self._state.facts = replace(self._state.facts, busy=False)
        self._changed.set()

    def _publish(self, event: AnyEvent) -> None:
        self._state.saw(self._journal.publish(event))

    # what is asked of it

    def submit(
        self,
        text: str,
        attachments: Taken = (),
        *,
        typed: str | None = None,
        id: str = "",
        agent: str = MAIN,
    ) -> str:
        """What could not be sent is the person's again."""
        id = id or new_id()
        message = SendMessage(text=text, attachments=attachments, typed=typed, id=id, agent=agent)
        self._state.sent += 1

        def sent(future: asyncio.Future[dict[str, Any]]) -> None:
            self._state.sent -= 1
            self._changed.set()
            if not future.cancelled() and (error := future.exception()) is not None:
                self._publish(InputRefused(text=text, reason=str(error)))

        self._requests.ask(message).add_done_callback(sent)
        return id

    def typing(self) -> None:
        self._requests.ask(Typing()).add_done_callback(_unread)

    def take_back(self, give: Give) -> bool:
        if not self._state.waits:
            return False

        def answered(future: asyncio.Future[dict[str, Any]]) -> None:
            if future.cancelled() or future.exception() is not None:
                return  # that the line has ended was told
            taken = taken_back(future.result())
            if taken:
                give(taken)

        self._requests.ask(TakeBack()).add_done_callback(answered)
        return True

    def interrupt(self) -> bool:
        return self.busy and self._do(Interrupt())

    def to_background(self) -> int:
        count = len(self._state.movable) + len(self._state.attended)
        if count:
            self._do(ToBackground())
        return count

    def answer(self, ask: int, answer: Answer) -> bool:
        return self._state.asked(ask) and self._do(GiveAnswer(ask=ask, answer=answer))

    async def weigh(self, ask: int, rules: Sequence[str]) -> Weighed:
        try:
            found = await self._found(WeighRules(ask=ask, rules=tuple(rules)))
            return msgspec.convert(found, Weighed)
        except (SessionError, msgspec.ValidationError) as error:
            return Weighed(problem=str(error))

    def cycle_mode(self) -> str:
        self._do(CycleMode())
        return self.mode

    def _do(self, request: AnyRequest) -> bool:
        """Ask for what no answer is awaited of; a refusal is told."""

        def answered(future: asyncio.Future[dict[str, Any]]) -> None:
            error = None if future.cancelled() else future.exception()
            if error is not None and not isinstance(error, LineEnded):  # whose end was told
                self._publish(Noticed(text=str(error), tone="warning"))

        self._requests.ask(request).add_done_callback(answered)
        return not self._gone

    async def mentions(self, begun: str) -> Sequence[Mention]:
        """Nothing where that is not understood there: somebody only types."""
        with suppress(SessionError, msgspec.ValidationError):
            return msgspec.convert(await self._found(Mentions(begun=begun)), list[Mention])
        return ()

    async def run_command(self, line: str, front: Front) -> Outcome:
        return await self._offers.of(RunCommand(line=line, switches=front.switches))

    async def apply(self, outcome: Outcome, front: Front) -> Outcome:
        """What came over the line was applied there; what was made here goes over."""
        del front
        match outcome:
            case Change(
                operation=SetMode() | SetModel() | SetEffort() | ClearHistory() as operation
            ):
                return await self._offers.of(ApplyChange(operation=operation))
            case Submit(text=text, scope=None):
                self.submit(text)
                return outcome
            case _:
                return outcome

    async def keep_setting(self, key: str, value: str) -> Outcome:
        return await self._offers.of(KeepSetting(key=key, value=value))

    async def stop_agent(self, agent: str) -> Outcome:
        return await self._offers.of(StopAgent(agent=agent))

    async def resume_agent(self, agent: str) -> Outcome:
        return await self._offers.of(ResumeAgent(agent=agent))

    async def remember(self, line: str) -> Outcome:
        return await self._offers.of(Remember(line=line))

    async def _found(self, request: AnyRequest) -> Any:
        return (await self._requests.ask(request)).get("found")

    async def close(self) -> None:
        """The other end ends its session; what it says last is still taken in."""
        self._closing = True
        await self._line.close()
        await asyncio.wait([self._reading], timeout=LAST)
        self._reading.cancel()
        await asyncio.gather(self._reading, return_exceptions=True)
        self._requests.end("The session was left.")
        self._watches.end()
        self._journal.close()
