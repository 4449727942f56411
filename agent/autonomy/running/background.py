"""A background session as a process: no terminal, a log for what it says, a socket for who looks.

It ends when it is told to, or by itself once nobody needs it; its last record is written when its
transcript is let go, whatever ended it.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
import signal
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Protocol

from gatewright.agent.autonomy.running.attention import Attention
from gatewright.agent.autonomy.running.bounded_log import BoundedLog
from gatewright.agent.autonomy.running.launch import Launch
from gatewright.agent.autonomy.running.reporting import Reporting
from gatewright.agent.autonomy.running.running_record import Record, State
from gatewright.agent.autonomy.running.socket_places import log_file, record_file, socket_path
from gatewright.agent.autonomy.running.standing import line
from gatewright.agent.autonomy.running.viewers import Viewers
from gatewright.agent.errors import GatewrightError, SessionError
from gatewright.agent.extensions.autonomy.autonomy_extension import Autonomy
from gatewright.agent.frontends.output import Output
from gatewright.agent.frontends.sentences import Spoken
from gatewright.agent.frontends.slash_text import command, no_command
from gatewright.agent.launch.exits import Exit
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.launch.starting import settled
from gatewright.agent.record.events import Envelope, ToolFinished, TurnEnded
from gatewright.agent.record.ids import new_id
from gatewright.agent.session.inbox import Input, Priority
from gatewright.agent.session.session import Session
from gatewright.agent.settings.overview import SettingsBook
from gatewright.agent.settings.paths import own_home
from gatewright.agent.settings.schema import Settings
from gatewright.agent.text.printable import visible
from gatewright.tools.access import MAIN
from gatewright.tools.protocol import TextContent
from gatewright.tools.system.lifetimes import Reaper, adopt
from gatewright.tools.system.signals import hearing

SETTLE, CLOSE = 4.0, 4.5  # seconds for its turn to end, and for all that it has to be put away
REAPING = 60.0  # seconds between two looks at what was adopted
MINUTE = 60.0
ASKED_TO = "You stopped it."
UNUSED = "Nobody needed it for {minutes:g} min."
DEFECT = "A defect ended it: agent logs shows more."
OVER = "The session is over."

Ended = tuple[State | None, str]  # with no state it is over in the one that it rests in


class Opener(Protocol):
    def __call__(
        self, options: LaunchOptions, *, interactive: bool
    ) -> Callable[[], Awaitable[Session]]: ...


log = logging.getLogger(__name__)


def run(launch: Launch, opener: Opener, mode: Callable[[str], str]) -> int:
    """Until the session is over; its exit code. `mode` knows the names of modes."""

    async def open_session() -> Session:  # what is wrong with its options is the session's own end
        return await opener(settled(launch.options, mode), interactive=True)()

    home = own_home(os.environ)
    adopt()
    bounded = BoundedLog(log_file(home, launch.id))
    loop = asyncio.new_event_loop()
    process = Background(launch, home, loop)
    try:
        return loop.run_until_complete(process.run(open_session))
    finally:
        process.say_last()
        bounded.close()


class Background:
    """Owns the session, who looks at it, and its record."""

    def __init__(self, launch: Launch, home: Path, loop: asyncio.AbstractEventLoop) -> None:
        self._launch, self._home, self._loop = launch, home, loop
        self._attention = Attention(os.environ, Path(launch.cwd))
        self._reporting = Reporting(launch, record_file(home, launch.id), self._call)
        self._standing = self._reporting.standing
        self._out, self._spoken = Output(1, lambda error: None), Spoken()  # noqa: ARG005  no reader
        self._over: asyncio.Future[Ended] = loop.create_future()
        self._session: Session | None = None
        self._last: Ended = ("failed", DEFECT)
        self._idle: asyncio.TimerHandle | None = None
        self._until_idle: asyncio.Task[None] | None = None
        self._looking = False
        self._worked = False  # what it was started for has begun
        self._reaper, self._reaped = Reaper(), 0.0

    # its life

    async def run(self, open_session: Callable[[], Awaitable[Session]]) -> int:
        def hung_up() -> None:
            """There is no terminal whose end could mean anything."""

        with hearing(
            self._loop,
            {signal.SIGTERM: self.stop, signal.SIGINT: self.stop, signal.SIGHUP: hung_up},
        ):
            self._reporting.look(anew=True)
            try:
                self._last = await self._live(asyncio.ensure_future(open_session()))
            except GatewrightError as error:
                self._last = ("failed", line(str(error)))
                self._say(f"agent: {error}\n")
            await self._attention.close()
        self._out.close()
        return Exit.ERROR if self._last[0] == "failed" else Exit.OK

    def stop(self) -> None:
        """As `agent stop` and a front end's /stop do; once more does nothing."""
        self._end("stopped", ASKED_TO)

    def say_last(self) -> None:
        """The transcript is let go by now."""
        self._reporting.last(*self._last)

    def _end(self, state: State | None, why: str) -> None:
        if not self._over.done():
            self._over.set_result((state, why))

    async def _live(self, opening: asyncio.Future[Session]) -> Ended:
        await _first(opening, self._over)
        if not opening.done():  # stopped before it began
            opening.cancel()
            await asyncio.wait({opening}, timeout=SETTLE)
            return self._over.result()
        session = self._session = opening.result()
        gc.freeze()
        gc.enable()
        watching = asyncio.create_task(self._watch(session), name="events of the session")
        viewers: Viewers | None = None
        try:
            viewers = self._listen(session)
            self._looked_at(0)
            beginning = asyncio.create_task(self._begin(session), name="what it was started for")
            await _first(beginning, self._over)
            if beginning.done():
                beginning.result()  # raises what was wrong with it
            beginning.cancel()
            return await self._over
        finally:
            await self._close(session, viewers)
            watching.cancel()
            await asyncio.wait({watching})

    def _listen(self, session: Session) -> Viewers | None:
        """Without a socket it works all the same, and says so."""
        try:
            path = socket_path(self._launch.id, os.environ)
            viewers = Viewers(
                session,
                path,
                conversations=os.path.realpath(self._home / "projects"),
                stop=self.stop,
                changed=self._looked_at,
            )
        except SessionError as error:
            session.past.note(f"Nobody can look at this session: {error}")
            return None
        self._standing.reached(str(path))
        return viewers

    async def _begin(self, session: Session) -> None:
        """Its prompt, as the person typed it, or as something that nobody did."""
        options = self._launch.options
        if options.prompt and self._launch.unattended:
            self._standing.begins()
            self._put(session, options)
        elif options.prompt and (wrong := no_command(session, options.prompt)):
            self._end("failed", wrong)
        elif options.prompt:
            self._standing.begins()
            said = await command(session, options.prompt)
            if isinstance(said, str):
                self._say(said)
                self._end("done", line(said))
            else:
                session.submit(said.text, typed=options.typed, scope=said.scope)
        self._worked = True
        self._look()

    def _put(self, session: Session, options: LaunchOptions) -> None:
        id, main = new_id(), session.agent(MAIN)
        assert main is not None
        if (autonomy := session.part(Autonomy)) is not None:
            autonomy.opened().unattended.modes[id] = options.mode
        content = (TextContent(options.prompt),)
        put = Input(id, content, Priority.LATER, hidden=True, typed="", source="schedule")
        main.runner.put(put)

    async def _close(self, session: Session, viewers: Viewers | None) -> None:
        """Its turn ends, then everybody hears of it, then all is put away; within ten seconds."""
        self._reporting.look(anew=True)
        if self._idle is not None:
            self._idle.cancel()
        session.interrupt()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(SETTLE):
                await session.idle()
        if viewers is not None:
            await viewers.close(self._over.result()[1] or OVER if self._over.done() else OVER)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CLOSE):
                await session.close()
        if self._until_idle is not None:
            self._until_idle.cancel()
        if session.unsaved:
            self._say(f"agent: {session.unsaved}\n")

    # what it is at

    def _looked_at(self, viewers: int) -> None:
        self._standing.looked_at(viewers)
        session = self._session
        if session is not None and (autonomy := session.part(Autonomy)) is not None:
            autonomy.opened().unattended.looked_at(seen=viewers > 0)
        self._look()

    async def _watch(self, session: Session) -> None:
        subscription = session.subscribe()
        try:
            while batch := await subscription.batch():
                for envelope in batch:
                    self._take(envelope)
                self._look()
        finally:
            for envelope in subscription.waiting():
                self._take(envelope)
            subscription.close()

    def _take(self, envelope: Envelope) -> None:
        self._standing.saw(envelope)
        if said := self._spoken.text(envelope):
            self._say(said)
        if isinstance(envelope.event, ToolFinished | TurnEnded):
            now = time.monotonic()
            if now - self._reaped >= REAPING:
                self._reaped = now
                self._reaper.look()

    def _look(self) -> None:
        """Once for all that happened at once."""
        if not self._looking and not self._over.done():
            self._looking = True
            self._loop.call_soon(self._looked)

    def _looked(self) -> None:
        self._looking = False
        session = self._session
        if session is None or self._over.done():
            return
        if session.past.file is not None:
            self._standing.kept(str(session.past.file))
        self._standing.jobs = bool(session.jobs_of(MAIN).all.running())
        self._standing.spent(session.spent.cost)
        self._reporting.look()
        self._rest(session)

    def _rest(self, session: Session) -> None:
        """Whether it may end by itself, and when."""
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None
        if session.busy:  # that nothing runs any more is no event
            if self._until_idle is None or self._until_idle.done():
                self._until_idle = asyncio.create_task(self._rests(session), name="until it rests")
            return
        if not self._standing.resting or self._standing.viewers or not self._worked:
            return
        if self._launch.once:
            self._end(None, "")
            return
        minutes = _settings(session).bg.idle_minutes
        why = UNUSED.format(minutes=minutes)
        self._idle = self._loop.call_later(minutes * MINUTE, self._end, None, why)

    async def _rests(self, session: Session) -> None:
        await session.idle()
        self._look()

    def _call(self, record: Record) -> None:
        if self._session is not None:
            self._attention.call(record, _settings(self._session).ui)

    def _say(self, text: str) -> None:
        self._out.write(visible(text))


async def _first(one: asyncio.Future[Any], other: asyncio.Future[Any]) -> None:
    """Until either is done."""
    await asyncio.wait({one, other}, return_when=asyncio.FIRST_COMPLETED)


def _settings(session: Session) -> Settings:
    book = session.part(SettingsBook)
    return book.around.settings if book is not None else Settings()
