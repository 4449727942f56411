"""The screen, put together: over a session of this process, or over one of another.

What opens sessions comes from the composition root.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from gatewright.agent.autonomy.running.attaching import Attaching, Visit
    from gatewright.agent.autonomy.running.hand_over import HandOver
    from gatewright.agent.client.port import SessionClient
    from gatewright.agent.commands.outcome import Choice, Switch
    from gatewright.agent.launch.options import LaunchOptions
    from gatewright.agent.session.session import Session
    from gatewright.agent.settings.groups.autonomy_settings import Bg
    from gatewright.tui.early.prompt import Early
    from gatewright.tui.sessions.resuming import Resuming

Opens: TypeAlias = "Callable[[], Awaitable[Session]]"


class Ways(NamedTuple):
    """How sessions are opened: with these options, or another one than is shown."""

    open: Callable[[LaunchOptions], Opens]
    others: Callable[[LaunchOptions], Callable[[Switch], Awaitable[Session]]]


class Screens:
    """The screen over sessions of this process, with what only such a screen has."""

    def __init__(self, options: LaunchOptions, ways: Ways) -> None:
        self._options, self._ways = options, ways
        self._handing: HandOver | None = None  # the session that is shown
        self._visit: Visit | None = None

    def run(self, early: Early | None) -> int:
        own = self._mine(self._ways.open(self._options))
        code = screen(own, self._options, self._resuming, early)
        if self._handing is not None and self._handing.wanted:
            return self._handing.finish()
        return code

    def _mine(self, opens: Opens) -> Opens:
        async def open_() -> Session:
            return self._joined(await opens())

        return open_

    def _joined(self, session: Session) -> Session:
        from gatewright.agent.autonomy.running.hand_over import HandOver  # noqa: PLC0415  lazy: 2 ms
        from gatewright.agent.commands.registry import always  # noqa: PLC0415  loaded by now

        self._handing = HandOver(session, self._options, os.environ, limits)
        session.commands.add(always(self._handing.command))
        return self._visits().joined(session)

    def _visits(self) -> Visit:
        from gatewright.agent.autonomy.running.attaching import Visit  # noqa: PLC0415  lazy: 5 ms

        if self._visit is None:
            self._visit = Visit(os.environ, limits)
        return self._visit

    def _resuming(self, folder: Path) -> Resuming:
        """The sessions to go on with; `--resume` without one lets the person pick first."""
        from msgspec.structs import replace  # noqa: PLC0415  loaded with the options

        from gatewright.tui.sessions.resuming import Last, Resuming  # noqa: PLC0415  loaded with the screen

        options = self._options

        async def sessions() -> tuple[Choice, ...]:
            from asyncio import to_thread  # noqa: PLC0415  loaded by the front end
            from time import time  # noqa: PLC0415

            from gatewright.agent.session.start.resume import offered  # noqa: PLC0415  lazy: 20 ms

            return await to_thread(offered, folder, time())

        def going_on(id: str) -> Opens:
            return self._mine(self._ways.open(replace(options, resume=id or None)))

        async def last() -> Last:
            from asyncio import to_thread  # noqa: PLC0415  loaded by the front end
            from time import time  # noqa: PLC0415

            from gatewright.agent.session.start.resume import newest  # noqa: PLC0415  loaded by now

            return Last(*await to_thread(newest, folder, time()))

        picks = options.resume == ""
        return Resuming(sessions, going_on, picks, self._others, options.prompt, last)

    async def _others(self, to: Switch) -> SessionClient:
        if not to.attach:
            return self._joined(await self._ways.others(self._options)(to))
        session = await self._visits().others(to)
        self._handing = None
        return session


def attach(visit: Visit, found: Attaching, early: Early | None = None) -> int:
    """The screen over a session of another process."""
    from gatewright.tui.sessions.resuming import Resuming  # noqa: PLC0415  loaded with the screen

    going_on, title = found.going_on(visit), found.ended
    own = Resuming(found.offered, going_on, not found.live, visit.others, title=title)
    return screen(lambda: visit.go(found), found.place, lambda _: own, early)


def choose(visit: Visit) -> int:
    """A screen over nothing, with the table of the sessions in the background."""
    from gatewright.agent.client.lobby import Lobby  # noqa: PLC0415  lazy: 5 ms
    from gatewright.agent.launch.options import LaunchOptions  # noqa: PLC0415  lazy: 5 ms
    from gatewright.tui.sessions.resuming import Resuming  # noqa: PLC0415  loaded with the screen

    async def lobby() -> SessionClient:
        return visit.joined(Lobby())

    async def none() -> tuple[Choice, ...]:
        return ()

    own = Resuming(none, lambda _: lobby, picks=False, others=visit.others, opens="/sessions")
    return screen(lobby, LaunchOptions(), lambda _: own, None)


def screen(
    open_: Callable[[], Awaitable[SessionClient]],
    place: LaunchOptions,
    own: Callable[[Path], Resuming],
    early: Early | None,
) -> int:
    """`place` says whose settings it looks like, `own` what there is to go on with."""
    import gc  # noqa: PLC0415  lazy: 0.1 ms

    gc.disable()  # 12 ms of a start; the screen puts it on again once it is painted
    from gatewright.agent.launch.screen_settings import looks, themes_of_plugins  # noqa: PLC0415  lazy: settings, 10 ms
    from gatewright.tui import app  # noqa: PLC0415  lazy: 120 ms, Textual
    from gatewright.tui.style.palette_file import OwnThemes  # noqa: PLC0415  loaded with the screen

    try:
        set_up = looks(place)
        return app.run(
            open_,
            ui=set_up.ui,
            themes=OwnThemes(set_up.themes, set_up.keep_theme, lambda: themes_of_plugins(place)),
            history=set_up.history,
            resuming=own(set_up.sessions),
            early=early,
        )
    finally:  # where the screen did not come so far as to have the terminal
        if early is not None:
            early.close()


def limits() -> Bg:
    """How many sessions may run in the background, and how long."""
    from gatewright.agent.subcommands.place import here  # noqa: PLC0415  lazy: 20 ms

    return here().loaded.settings.bg
