"""Which stored session to go on with: chosen on the screen, at the start and later."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from gatewright.agent.commands.outcome import Choice, Switch
from gatewright.tui.panels.offers import choice_of
from gatewright.tui.picker import Picking

if TYPE_CHECKING:
    from gatewright.agent.client.port import SessionClient  # the screen is there before the core
    from gatewright.tui.command_effects import Reach

OpenSession: TypeAlias = "Callable[[], Awaitable[SessionClient]]"
Others: TypeAlias = "Callable[[Switch], Awaitable[SessionClient]]"


WHICH = "Go on with which session? Esc starts a new one"


class Last(msgspec.Struct, frozen=True):
    """The session that was used last; without a title there was none."""

    title: str = ""
    age: str = ""


async def no_last() -> Last:
    return Last()


class Resuming(msgspec.Struct, frozen=True):
    """`sessions` lists them; `going_on` with no id begins anew.

    `picks`: the person picks the session first. `others` opens further ones. `prompt` is what the
    person said first, in whichever it becomes. `last` looks up what was used last here.
    `title` is what is asked with the list. `opens` is a line that is run at once.
    """

    sessions: Callable[[], Awaitable[Sequence[Choice]]]
    going_on: Callable[[str], OpenSession]
    picks: bool = True
    others: Others | None = None
    prompt: str = ""
    last: Callable[[], Awaitable[Last]] = no_last
    title: str = WHICH
    opens: str = ""


async def wanted(resuming: Resuming | None, open_: OpenSession, screen: Reach) -> OpenSession:
    """What opens the session that the person wants, where that is asked."""
    if resuming is None or not resuming.picks:
        return open_
    if not (rows := await resuming.sessions()):
        screen.talk.note("There is no session to go on with here. This is a new one.", "dim")
    return resuming.going_on(await chosen(rows, screen, resuming.title) if rows else "")


async def chosen(rows: Sequence[Choice], screen: Reach, title: str = WHICH) -> str:
    """The id of the session the person picks; empty for a new one."""
    picked: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def settle(id: str) -> None:
        if not picked.done():
            picked.set_result(id)

    screen.pick(
        Picking(
            title,
            [choice_of(row) for row in rows],
            pick=lambda choice: settle(choice.insert),
            cancel=lambda: settle(""),
        )
    )
    return await picked
