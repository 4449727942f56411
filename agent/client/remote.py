"""A session at the other end of a line, as the port that front ends know.

Nothing of it runs here: what is known comes from its lines, what is asked goes over as requests.
When the line ends, everything that waits is answered with the sentence that says why.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import cast

import msgspec
from msgspec.structs import replace

from gatewright.agent.client.far_calls import FarCalls
from gatewright.agent.client.far_line import Line, LineEnded
from gatewright.agent.client.far_state import FarState
from gatewright.agent.client.port import StatusSource
from gatewright.agent.client.session_lines import (
    VERSION,
    CommandsChanged,
    Ending,
    FactsChanged,
    Follow,
    FromSession,
    Happened,
    HappenedThere,
    Hello,
    Listed,
    Opened,
    Responded,
    StopSession,
)
from gatewright.agent.commands.outcome import Outcome, Quit
from gatewright.agent.commands.registry import Command, CommandContext, Commands
from gatewright.agent.errors import SessionError
from gatewright.agent.record.codec import WireError, decode
from gatewright.agent.record.events import Answered, Envelope, Noticed
from gatewright.agent.record.hub import Subscription

HELLO_LIMIT = 10.0
SLICE = 0.01  # seconds of taking in lines that always come, until everybody else has a turn
LAST = 1.0  # seconds for what was written last, once the other end has ended
STOPPING = 15.0  # seconds; it needs ten at the most
HANGS = "It did not end within {seconds:.0f} s: agent kill {id} ends it without asking."
SILENT = "Nothing was heard of the session within {seconds:.0f} s."
STRANGE = "The session sent a line that is not understood here, so this end was closed: {cut}"
OTHER = "The session speaks version {theirs} of its lines and this program version {ours}."
INSTALL = "Install the same version of the program at both ends."
CUT = 80


class OtherVersion(SessionError):
    """It runs, and what it says is not understood here; `speaks` says so without what to do."""

    def __init__(self, theirs: int) -> None:
        self.speaks = OTHER.format(theirs=theirs, ours=VERSION)
        super().__init__(f"{self.speaks} {INSTALL}")


class Coming(msgspec.Struct, frozen=True, kw_only=True):
    """Who looks: what others are told of it, and the id by which it finds a session that stays."""

    viewer: str = ""
    stays: str = ""


OWNER = Coming()  # whoever started it, and ends it


class _Kind(msgspec.Struct, frozen=True):
    type: str = ""


_TOLD = ("hello", "ending", "facts", "commands", "event", "agent_event")
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


async def join(line: Line, came: Coming = OWNER, *, within: float = HELLO_LIMIT) -> RemoteSession:
    """The session, once it has said hello and told what is kept. Raises SessionError."""
    joined: RemoteSession | None = None
    try:
        async with asyncio.timeout(within):
            joined = RemoteSession(line, await _hello(line), came)
            await joined.follow()
    except (SessionError, TimeoutError) as error:
        await line.close(at_once=True)
        if joined is not None:
            await joined.close()
        if isinstance(error, OtherVersion):
            raise
        silent = isinstance(error, TimeoutError)
        why = SILENT.format(seconds=within) if silent else str(error)
        raise SessionError(why) from error
    return joined


async def _hello(line: Line) -> Hello:
    while not isinstance(first := read(await line.next()), Hello):
        if first is not None:
            raise LineEnded(STRANGE.format(cut="no hello"))
    if first.version != VERSION:
        raise OtherVersion(first.version)
    return first


class RemoteSession(FarCalls):
    """Implements `SessionClient`."""

    def __init__(self, line: Line, hello: Hello, came: Coming = OWNER) -> None:
        super().__init__(line, FarState(hello.facts, came.stays))
        self._line = line
        self._viewer = came.viewer
        self.app = hello.app
        self._listed = hello.commands
        self._commands = Commands(self._known)
        self._live = False  # all that was kept has come
        self._closing = False
        self._ending = ""  # why the session ends, where it says so itself
        self._reading = asyncio.create_task(self._read(), name="lines of the session")

    # what it is

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
            if listed.leaves:
                return Quit()
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
            kind=listed.kind,
            leaves=listed.leaves,
        )

    # what happens

    def subscribe(self, *, since: int = 0, streamed: bool = False) -> Subscription:
        return self._journal.hub().subscribe(since=since, streamed=streamed)

    async def follow(self) -> None:  # what is kept, and what happens from now on
        await self._requests.ask(Follow(viewer=self._viewer))

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
            self._lost(self._ending or str(error))
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
            case Ending(why=why):
                self._ending = why
                self._state.stays = ""
            case Responded():
                self._live = True  # the first is that of what is followed
                self._requests.answered(told)
            case Hello():
                raise _strange(line)

    def _heard(self, told: Happened | HappenedThere) -> None:
        if isinstance(told, HappenedThere):
            self._watches.take(told)
        else:
            envelope = self._of_others(decode(bytes(told.event)))
            self._state.saw(envelope)
            self._journal.relay(envelope)

    def _of_others(self, envelope: Envelope) -> Envelope:
        """What was answered from here is nobody else's; what was before is no news."""
        event = envelope.event
        if isinstance(event, Answered) and (not self._live or event.by == self._viewer):
            return replace(envelope, event=replace(event, by=""))
        return envelope

    def _lost(self, why: str) -> None:
        self._gone = why
        self._state.stays = ""
        self._requests.end(why)
        self._watches.end()
        if not self._closing:
            for event in self._state.ends(why):
                self._publish(event)
        self._state.facts = replace(self._state.facts, busy=False)
        self._changed.set()

    async def sent(self) -> None:
        """Wait until all that was submitted has come there, or the line has ended."""
        while self._state.sent and not self._gone:
            self._changed.clear()
            await self._changed.wait()

    def tell(self, text: str) -> None:
        """Something the person should know about this end."""
        self._publish(Noticed(text=text, tone="warning"))

    async def stop(self) -> None:
        """End a session that would go on, and wait until it has. Raises SessionError."""
        if self._gone:
            return
        with suppress(LineEnded):  # it was quick
            await self._requests.ask(StopSession())
        await asyncio.wait([self._reading], timeout=STOPPING)
        if not self._gone:
            raise SessionError(HANGS.format(seconds=STOPPING, id=self._state.stays))

    async def close(self) -> None:
        """The other end ends its session, unless that stays; what it says last is taken in."""
        self._closing = True
        await self._line.close()
        await asyncio.wait([self._reading], timeout=LAST)
        self._reading.cancel()
        await asyncio.gather(self._reading, return_exceptions=True)
        self._requests.end("The session was left.")
        self._watches.end()
        self._journal.close()
