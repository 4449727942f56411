"""Looking at a background session from a terminal: found, joined over its socket, begun again.

Nothing of the session runs here, and no setting of this process means anything to it.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from gatewright.agent.autonomy.running.known_sessions import SHORT, find, of_session
from gatewright.agent.autonomy.running.person import require_person
from gatewright.agent.autonomy.running.running_record import Record, Seen, seen
from gatewright.agent.autonomy.running.socket_places import record_file
from gatewright.agent.client.attached_commands import attached_commands
from gatewright.agent.client.port import SessionClient
from gatewright.agent.client.remote import Coming, OtherVersion, RemoteSession, join
from gatewright.agent.client.socket_line import connect
from gatewright.agent.commands.outcome import Choice, Switch
from gatewright.agent.commands.registry import always
from gatewright.agent.errors import SessionError
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.settings.paths import own_home
from gatewright.agent.version import VERSION

if TYPE_CHECKING:
    from gatewright.agent.settings.groups.autonomy_settings import Bg

Shown = TypeVar("Shown", bound=SessionClient)
GO_ON = "again"
LEFT = "It was left as it is. agent --resume {id} goes on with it in this terminal."
LISTENS = 20.0  # seconds in which a session that has just begun listens
EVERY = 0.02
SILENT = "Session {id} does not listen: agent logs {id} shows why."
OVER = "Session {id} ended before it could be looked at: {why}"
OTHER = "{why} `agent stop {id}`, and `agent attach {id}` goes on with it in this version."
NEWER = (
    "This session runs in version {theirs} of the program and this screen is version {ours}. "
    "Between turns /restart goes on with it in this version."
)


Limits: TypeAlias = Callable[[], "Bg"]


class Attaching:
    """`viewer` is what others are told of who looks from here."""

    def __init__(
        self, home: Path, env: Mapping[str, str], found: Seen, *, viewer: str, limits: Limits
    ) -> None:
        self._home, self._env, self._limits = home, env, limits
        self._viewer = viewer
        self.record = found.record
        self.live = found.live
        self._joined: RemoteSession | None = None

    @property
    def id(self) -> str:
        return self.record.id

    @property
    def ended(self) -> str:
        """How it ended; empty for one that lives."""
        if self.live:
            return ""
        why = f": {self.record.why}" if self.record.why else "."
        return f"Session {self.id[:SHORT]} is {self.record.state}{why} Esc leaves it so"

    @property
    def place(self) -> LaunchOptions:
        """Whose settings say how the screen looks."""
        return LaunchOptions(cwd=self.record.cwd if Path(self.record.cwd).is_dir() else "")

    async def offered(self) -> tuple[Choice, ...]:
        """What can be done with one that has ended."""
        where = Path(self.record.cwd).name
        return (Choice(GO_ON, "Go on with it in the background", where),)

    def going_on(self, visit: Visit) -> Callable[[str], Callable[[], Awaitable[RemoteSession]]]:
        """What the answer leads to."""

        async def left() -> RemoteSession:
            raise SessionError(LEFT.format(id=self.id))

        return lambda chosen: partial(visit.go, self) if chosen == GO_ON else left

    async def open(self) -> RemoteSession:
        """Raises SessionError."""
        line = await connect(Path(await self._socket()))
        try:
            joined = await join(line, Coming(viewer=self._viewer, stays=self.id[:SHORT]))
        except OtherVersion as error:
            raise SessionError(OTHER.format(why=error.speaks, id=self.id[:SHORT])) from error
        self._joined = joined
        joined.commands.add(always(*attached_commands(joined)))
        if joined.app != VERSION:
            joined.tell(NEWER.format(theirs=joined.app, ours=VERSION))
        return joined

    async def again(self) -> RemoteSession:
        """In a process of this version, once the one before has ended. Raises SessionError."""
        if self._joined is not None:
            await self._joined.stop()
        from gatewright.agent.autonomy.running.start_background import (  # noqa: PLC0415  lazy: 20 ms, rarely
            Manner,
            start,
        )

        named = self.record.transcript or self.id
        options = LaunchOptions(resume=named, cwd=self.record.cwd)
        begin = partial(start, options, self._env, self._limits(), Manner(here=True))
        self.record = (await asyncio.to_thread(begin)).record
        self.live = True
        return await self.open()

    async def _socket(self) -> str:
        """Of a session that has just begun, once it listens."""
        file, end = record_file(self._home, self.id), time.monotonic() + LISTENS
        record: Record | None = self.record
        while record is None or not record.socket:
            if record is not None and record.ended:
                raise SessionError(OVER.format(id=self.id[:SHORT], why=record.why))
            if time.monotonic() > end:
                raise SessionError(SILENT.format(id=self.id[:SHORT]))
            await asyncio.sleep(EVERY)
            record = of_session(self._home, self.id)
        if (now := await asyncio.to_thread(seen, file, time.time())) is None or not now.live:
            why = now.record.why if now is not None else "its process is gone."
            raise SessionError(OVER.format(id=self.id[:SHORT], why=why))
        self.record = record
        return record.socket


class Visit:
    """The one background session that a screen shows, and how it gets to others."""

    def __init__(self, env: Mapping[str, str], limits: Limits) -> None:
        self._env, self._limits = env, limits
        self.home = own_home(env)
        self._viewer = viewer()
        self.shown: Attaching | None = None

    def find(self, wanted: str) -> Attaching:
        """By an id, a part of it, or words of its title. Raises GatewrightError."""
        require_person(self._env)
        found = find(self.home, wanted, time.time())
        return Attaching(self.home, self._env, found, viewer=self._viewer, limits=self._limits)

    async def go(self, to: Attaching) -> RemoteSession:
        """Look at one that lives, or begin it again. Raises GatewrightError."""
        joined = await (to.open() if to.live else to.again())
        self.shown = to
        return self.joined(joined)

    async def others(self, to: Switch) -> RemoteSession:
        """What a command of the screen leads to. Raises GatewrightError."""
        shown = self.shown
        if shown is not None and to.attach == shown.id:
            return self.joined(await shown.again())
        return await self.go(await asyncio.to_thread(self.find, to.attach))

    def joined(self, session: Shown) -> Shown:
        """With what a screen has of other sessions, beside the one that it shows."""
        from gatewright.agent.autonomy.running.sessions_table import SessionsTable  # noqa: PLC0415  lazy: 3 ms

        session.commands.add(always(*SessionsTable(self, session).commands()))
        return session


def viewer() -> str:
    """What others are told of who looks from this terminal."""
    try:
        where = os.ttyname(0).removeprefix("/dev/")
    except OSError:
        where = "no terminal"
    return f"{where} ({os.getpid()})"
