"""Which stored session to go on with: chosen on the screen, at the start and later."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Protocol, TypeAlias

import msgspec

from gatewright.agent.commands.outcome import Switch
from gatewright.tools.blocks import Table
from gatewright.tui.picker import Picking
from gatewright.tui.prompt.menu import Choice

if TYPE_CHECKING:
    from gatewright.agent.session.session import (
        Session,  # 25 ms: the screen is there before the core
    )

OpenSession: TypeAlias = "Callable[[], Awaitable[Session]]"
Others: TypeAlias = "Callable[[Switch], Awaitable[Session]]"


class Resuming(msgspec.Struct, frozen=True):
    """`sessions` lists id, title, age, size and branch; `going_on` with no id begins anew.

    `picks`: the person picks the session first. `others` opens further ones. `prompt` is what the
    person said first, in whichever it becomes.
    """

    sessions: Callable[[], Awaitable[Table]]
    going_on: Callable[[str], OpenSession]
    picks: bool = True
    others: Others | None = None
    prompt: str = ""


class Screen(Protocol):
    def pick(self, picking: Picking) -> None: ...


def choices_of(table: Table) -> list[Choice]:
    return [
        Choice(id, title or "no title", f"{age:>7}  {size:>9}", branch)
        for id, title, age, size, branch in table.rows
    ]


async def chosen(table: Table, screen: Screen) -> str:
    """The id of the session the person picks; empty for a new one."""
    picked: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def settle(id: str) -> None:
        if not picked.done():
            picked.set_result(id)

    screen.pick(
        Picking(
            "Go on with which session? Esc starts a new one",
            choices_of(table),
            pick=lambda choice: settle(choice.insert),
            cancel=lambda: settle(""),
        )
    )
    return await picked
