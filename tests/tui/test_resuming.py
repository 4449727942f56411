"""Picking the session to go on with, before there is one."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

from gatewright.agent.client.port import SessionClient
from gatewright.agent.commands.outcome import Choice
from gatewright.agent.session.start.resume import choices_of
from gatewright.tools.blocks import Table
from gatewright.tui.app import AgentApp
from gatewright.tui.sessions.resuming import OpenSession, Resuming
from tests.fakes.fake_session import FakeSession
from tests.tui.stage import Clock, Stage, driven

ROWS = (
    ("0198-new", "mend the lexer", "2 min", "12 kB", "main"),
    ("0198-old", "paint the shed", "3 d", "1,204 kB", ""),
)


@asynccontextmanager
async def start(rows: tuple[tuple[str, ...], ...]) -> AsyncGenerator[tuple[Stage, list[str]]]:
    """The screen of `--resume`, and the ids that sessions were opened with."""
    session = FakeSession()
    opened: list[str] = []

    async def sessions() -> Sequence[Choice]:
        return choices_of(Table(("Session", "Title", "Age", "Size", "Branch"), rows))

    def going_on(id: str) -> OpenSession:
        async def open_session() -> SessionClient:
            opened.append(id)
            return session.facade()

        return open_session

    clock = Clock()
    app = AgentApp(going_on("never"), monotonic=clock, now=lambda: session.now)
    app.resuming = Resuming(sessions, going_on)
    async with driven(app) as pilot:
        yield Stage(app, pilot, session, clock), opened


async def test_typing_filters_and_enter_goes_on() -> None:
    async with start(ROWS) as (s, opened):
        shown = await s.see("mend the lexer", "2 min", "12 kB", "main", "1,204 kB", "Esc starts")
        assert shown.index("lexer") < shown.index("shed")
        await s.type("shed")
        await s.gone("lexer")
        assert not opened
        await s.press("enter")
        await s.see("scripted")
        assert opened == ["0198-old"]


async def test_escape_starts_a_new_one_with_what_was_typed() -> None:
    async with start(ROWS) as (s, opened):
        await s.see("mend the lexer")
        s.app.repl.box.focus()
        await s.type("Hello.")
        await s.press("enter")
        s.app.repl.picker.focus()
        await s.press("escape")
        await s.until(lambda: s.session.sent == ["Hello."])
        assert opened == [""]


async def test_another_list_in_its_place_means_a_new_one() -> None:
    async with start(ROWS) as (s, opened):
        await s.see("mend the lexer")
        s.app.repl.box.focus()
        await s.press("ctrl+r")
        await s.until(lambda: opened == [""])


async def test_without_any_session_a_new_one_begins() -> None:
    async with start(()) as (s, opened):
        await s.see("There is no session to go on with here", "scripted")
        assert opened == [""]
