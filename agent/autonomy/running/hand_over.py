"""`/bg`: a session goes on without its screen, in a process of its own.

Between two turns it is closed here, which lets its transcript go, and begun there from what is
stored; what waited in its inbox is sent there. What cannot go along is named before.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from gatewright.agent.commands.outcome import Choice, Outcome, Pick, Problem, Quit, Say
from gatewright.agent.commands.registry import Command, CommandContext
from gatewright.agent.errors import GatewrightError
from gatewright.agent.text.printable import visible
from gatewright.tools.access import MAIN
from gatewright.tools.protocol import TextContent

if TYPE_CHECKING:
    from pathlib import Path

    from gatewright.agent.client.port import Taken
    from gatewright.agent.launch.options import LaunchOptions
    from gatewright.agent.session.session import Session
    from gatewright.agent.settings.groups.autonomy_settings import Bg

NOTHING = "There is nothing to go on with yet: say something first, or use agent bg."
UNKEPT = "This session is not stored, so it cannot go on elsewhere."
WAITS = "Once this turn has ended, the session goes on without the screen. /bg again: it stays."
STAYS = "It stays here."
FULL = "{count} sessions run in the background, as many as bg.max lets: agent stop ID ends one."
STOPPED = "What cannot go along ends: {count} background tasks"
STOPPED_ONE = "What cannot go along ends: a background task"
SHOWN = 8  # of those, by their titles
FAILED = "agent: It could not go on in the background: {why} agent --resume {id} goes on with it.\n"


class HandOver:
    """Of one session of this process; `wanted` once its screen is left for it."""

    def __init__(
        self,
        session: Session,
        options: LaunchOptions,
        env: Mapping[str, str],
        limits: Callable[[], Bg],
    ) -> None:
        self._session, self._options, self._env = session, options, env
        self._limits = limits
        self._waiting: asyncio.Event | None = None  # until the turn ends; set: it stays
        self._inbox: list[Taken] = []
        self._mode = ""
        self._file: Path | None = None
        self.wanted = False

    @property
    def command(self) -> Command:
        return Command(
            name="bg",
            summary="Go on without the screen, in the background, once the turn has ended",
            run=self._bg,
        )

    async def _bg(self, context: CommandContext) -> Outcome:
        del context
        if self._waiting is not None:
            self._waiting.set()
            return Say(())
        if wrong := await asyncio.to_thread(self._wrong):
            return Problem.of(wrong)
        left = self._session.jobs_of(MAIN).all.running()
        if not left:
            return await self._leave()

        async def choose(id: str) -> Outcome:
            return await self._leave() if id else Say(())

        count = len(left)
        title = STOPPED_ONE if count == 1 else STOPPED.format(count=count)
        return Pick(
            fallback=Problem.of(title),
            title=title,
            about=tuple(left[:SHOWN]),
            choices=(Choice("", "Stay here"), Choice("go", "Go on without them")),
            choose=choose,
        )

    def _wrong(self) -> str:
        """Why it cannot go on elsewhere; empty where it can."""
        from gatewright.agent.autonomy.running.known_sessions import live  # noqa: PLC0415  only for this
        from gatewright.agent.autonomy.running.person import require_person  # noqa: PLC0415
        from gatewright.agent.settings.paths import own_home  # noqa: PLC0415

        file = self._session.past.file
        if file is None:
            return UNKEPT
        if not file.exists():
            return NOTHING
        try:
            require_person(self._env)
        except GatewrightError as error:
            return str(error)
        count = len(live(own_home(self._env), time.time()))
        return FULL.format(count=count) if count >= self._limits().max else ""

    async def _leave(self) -> Outcome:
        """At the end of the turn; what waits is kept from beginning another one here."""
        session = self._session
        session.take_back(self._inbox.extend)
        if session.busy and not await self._rests():
            for text, *more in self._inbox:
                said = text.text if isinstance(text, TextContent) else ""
                session.submit(said, tuple(more))
            self._inbox.clear()
            return Say.text(STAYS, "dim")
        session.take_back(self._inbox.extend)
        from gatewright.agent.autonomy.running.known_sessions import SHORT  # noqa: PLC0415  loaded by now

        self._mode, self._file = session.mode, session.past.file
        self.wanted = True
        session.stays = session.id[:SHORT]
        return Quit()

    async def _rests(self) -> bool:
        """False: it is to stay here."""
        self._session.past.note(WAITS)
        called_off = self._waiting = asyncio.Event()
        idle = asyncio.ensure_future(self._session.idle())
        stays = asyncio.ensure_future(called_off.wait())
        try:
            await asyncio.wait({idle, stays}, return_when=asyncio.FIRST_COMPLETED)
            return not called_off.is_set()
        finally:
            self._waiting = None
            idle.cancel()
            stays.cancel()

    def finish(self) -> int:
        """Its screen is gone and its transcript let go: begin it there. An exit code."""
        try:
            asyncio.run(self._begin())
        except GatewrightError as error:
            told = FAILED.format(why=error, id=self._session.id)
            sys.stderr.write(visible(told))
            return 1
        return 0

    async def _begin(self) -> None:
        from gatewright.agent.autonomy.running.attaching import Attaching  # noqa: PLC0415  only for this
        from gatewright.agent.autonomy.running.running_record import Seen  # noqa: PLC0415
        from gatewright.agent.autonomy.running.start_background import Manner, start  # noqa: PLC0415
        from gatewright.agent.commands.outcome import Switch  # noqa: PLC0415
        from gatewright.agent.session.start.switching import options_for  # noqa: PLC0415
        from gatewright.agent.settings.paths import own_home  # noqa: PLC0415

        to = Switch(path=str(self._file), mode=self._mode)
        options = options_for(self._options, to)
        begun = start(options, self._env, self._limits(), Manner(here=True))
        if not self._inbox:
            return
        seen = Seen(begun.record, live=True)
        home = own_home(self._env)
        there = Attaching(home, self._env, seen, viewer="", limits=self._limits)
        joined = await there.open()
        for text, *more in self._inbox:
            joined.submit(text.text if isinstance(text, TextContent) else "", tuple(more))
        await joined.sent()
        await joined.close()
