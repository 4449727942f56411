"""Names of servers' resources behind an @: offered beside files, and no key waits for them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from gatewright.agent.commands.registry import Mention
from tests.fakes.fake_session import FakeSession
from tests.tui.stage import stage

SERVER = Mention("db:", "resources of this MCP server", open=True)
ROWS = (Mention("db:db://notes", "Notes"), Mention("db:db://", "db://{table}", open=True))


def offering() -> tuple[FakeSession, list[str]]:
    session, asked = FakeSession(), list[str]()

    async def mentions(begun: str) -> Sequence[Mention]:
        asked.append(begun)
        return ROWS if ":" in begun else (SERVER,)

    session.mentions_hook = mentions
    return session, asked


async def test_a_server_is_chosen_then_what_it_offers() -> None:
    session, _ = offering()
    async with stage(session) as s:
        await s.type("see @d")
        await s.see("db:", "resources of this MCP server")
        await s.press("tab")
        await s.see("db:db://notes", "Notes")
        assert s.app.repl.box.text == "see @db:"
        await s.type("no")
        await s.gone("db://{table}")
        await s.press("tab")
        assert s.app.repl.box.text == "see @db:db://notes "


async def test_typing_waits_for_nobody_and_only_the_newest_is_asked_next() -> None:
    session, asked = offering()
    go = asyncio.Event()

    async def slow(begun: str) -> Sequence[Mention]:
        asked.append(begun)
        await go.wait()
        return (Mention(f"{begun}!", "it"),)

    session.mentions_hook = slow
    async with stage(session) as s:
        await s.type("@")
        for letter in "abc":
            await s.type(letter)
        assert s.app.repl.box.text == "@abc"
        assert asked == [""]
        go.set()
        await s.see("abc!")
        assert asked == ["", "abc"]


async def test_an_answer_that_comes_late_opens_no_menu_again() -> None:
    session, _ = offering()
    go = asyncio.Event()

    async def slow(begun: str) -> Sequence[Mention]:
        await go.wait()
        return (Mention(f"{begun}!", "it"),)

    session.mentions_hook = slow
    async with stage(session) as s:
        await s.type("@a")
        await s.type(" b")
        go.set()
        await s.settled()
        assert not s.app.repl.menu.open
