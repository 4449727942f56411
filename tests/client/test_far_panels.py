"""Panels and pages of a session at the other end of a line: shown here, done there."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from gatewright.agent.commands.outcome import (
    Change,
    Choice,
    Listing,
    Look,
    Outcome,
    Page,
    Pick,
    Say,
    SetMode,
)
from gatewright.agent.commands.panels import (
    Check,
    ConfigPanel,
    DoctorPanel,
    Finding,
    Health,
    Option,
)
from gatewright.agent.commands.registry import LINES, CommandContext, Front, Handler
from gatewright.agent.errors import SessionError
from gatewright.tools.blocks import Block, Text
from tests.client.wired import wired
from tests.fakes.commands import add_command
from tests.fakes.waiting import eventually

SCREEN = Front(switches=True, panels=True)


def _giving(outcome: Outcome) -> Handler:
    async def give(context: CommandContext) -> Outcome:
        del context
        return outcome

    return give


async def test_checks_run_where_the_session_does() -> None:
    found = Finding("disk", Health.WARN, "It is full", "Empty it.")

    def broken() -> Sequence[Finding]:
        raise SessionError("It cannot be looked at.")

    checks = (Check("disk", lambda: [found]), Check("net", broken))
    async with wired("") as (remote, built, _):
        add_command(built.session.commands, "checks", _giving(_doctor(checks)))
        got = await remote.run_command("/checks", SCREEN)
        assert isinstance(got, DoctorPanel)
        disk, net = got.checks
        assert await asyncio.to_thread(disk.run) == [found]
        with pytest.raises(OSError, match="cannot be looked at"):
            await asyncio.to_thread(net.run)
        said = await remote.run_command("/checks", LINES)  # who opens nothing is told in words
    assert said == Say((Text(DoctorPanel.needs, "dim"), Text("all is well")))


def _doctor(checks: Sequence[Check]) -> DoctorPanel:
    return DoctorPanel(fallback=Say.text("all is well"), checks=checks)


class Settings:
    """Implements `ConfigBook`."""

    def __init__(self) -> None:
        self.vim = "false"

    def options(self) -> Sequence[Option]:
        return [Option(key="ui.vim", help="Vim keys", kind="switch", value=self.vim)]

    async def problem_of(self, key: str, text: str) -> str:
        return "" if text in ("true", "false") else f"{key} is no {text}."

    async def set(self, key: str, text: str) -> str:
        if problem := await self.problem_of(key, text):
            raise SessionError(problem)
        self.vim = text
        return f"{key} = {text}"

    async def unset(self, key: str) -> str:
        return await self.set(key, "false")


async def test_settings_are_changed_where_the_session_runs() -> None:
    book = Settings()

    async def taken_up(key: str) -> Outcome:
        return Change(SetMode("plan"), (Text(key),))

    panel = ConfigPanel(
        fallback=Say.text("ui.vim"), book=book, taken_up=taken_up, choices={"model": (("a", "b"),)}
    )
    async with wired("") as (remote, built, _):
        add_command(built.session.commands, "set", _giving(panel))
        got = await remote.run_command("/set", SCREEN)
        assert isinstance(got, ConfigPanel)
        assert got.choices == {"model": (("a", "b"),)}
        assert list(got.book.options()) == book.options()
        assert await got.book.problem_of("ui.vim", "maybe") == "ui.vim is no maybe."
        assert await got.book.set("ui.vim", "true") == "ui.vim = true"
        assert [option.value for option in got.book.options()] == ["true"]
        with pytest.raises(SessionError, match="is no maybe"):
            await got.book.set("ui.vim", "maybe")
        assert await got.book.unset("ui.vim") == "ui.vim = false"
        await got.taken_up("ui.vim")  # it counts there
        await eventually(lambda: remote.mode == "plan")
        assert built.modes.mode == "plan"


async def test_pages_heads_and_further_looks_go_over() -> None:
    async def log(id: str) -> Sequence[Block]:
        return (Text(f"log of {id}"),)

    async def choose(id: str) -> Outcome:
        return Say.text(id)

    rows = (Choice("a", "A"),)
    listing = Listing(
        fallback=Say(()), title="Servers", rows=lambda: rows, read=log,
        looks=(Look("ctrl+t", "shows its log", log),),
    )  # fmt: skip
    head = Choice("", "Name", "Age")
    pick = Pick(fallback=Say(()), title="Which?", choices=rows, choose=choose, head=head)
    async with wired("") as (remote, built, _):
        for name, offer in (
            ("page", Page.text("Cost", "nothing")),
            ("list", listing),
            ("of", pick),
        ):
            add_command(built.session.commands, name, _giving(offer))
        assert await remote.run_command("/page", SCREEN) == Page.text("Cost", "nothing")
        got = await remote.run_command("/list", SCREEN)
        assert isinstance(got, Listing)
        [look] = got.looks
        assert (look.key, look.label) == ("ctrl+t", "shows its log")
        assert await look.read("a") == (Text("log of a"),)
        picked = await remote.run_command("/of", SCREEN)
        assert isinstance(picked, Pick)
        assert picked.head == head
