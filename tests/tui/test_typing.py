"""The session hears once of each message that it is being written; Enter asks before it paints."""

from __future__ import annotations

import asyncio

import pytest

from tests.fakes.fake_session import FakeSession
from tests.tui.stage import stage


def void(handle: object) -> None:
    del handle


async def test_the_session_hears_once_of_each_message() -> None:
    session = FakeSession()
    async with stage(session) as on:
        await on.settled()
        assert session.typings == 0
        await on.type("hello")
        assert session.typings == 1
        await on.press("enter")
        await on.type("again")
        assert session.typings == 2
        assert session.sent == ["hello"]


@pytest.mark.parametrize("line", ["/help", "!ls", "#tabs"])
async def test_what_goes_to_no_model_is_no_message(line: str) -> None:
    session = FakeSession()
    async with stage(session) as on:
        await on.settled()
        await on.type(line)
        assert session.typings == 0


async def test_keys_behind_an_enter_are_the_next_message() -> None:
    session = FakeSession()
    async with stage(session) as on:
        await on.settled()
        await on.type("one")
        await on.pilot.press("enter", "t", "w", "o")
        await on.settled()
        assert session.sent == ["one"]
        assert on.app.repl.box.text == "two"
        await on.press("enter")
        assert session.sent == ["one", "two"]


async def test_a_message_that_comes_back_at_once_is_the_draft_once() -> None:
    session = FakeSession()
    async with stage(session) as on:
        await on.settled()
        loop, desk = asyncio.get_running_loop(), on.app.repl.desk
        session.sent_hook = lambda text: void(loop.call_soon(desk.put_back, text))
        await on.type("one")
        await on.press("enter")
        await on.settled()
        assert on.app.repl.box.text == "one"


async def test_what_is_typed_between_two_ctrl_c_lets_nobody_leave() -> None:
    async with stage(FakeSession()) as on:
        await on.settled()
        repl = on.app.repl
        repl.way_out.cancel()
        repl.box.insert("L")  # and gone again, before the screen has heard of either
        repl.box.put("")
        repl.way_out.cancel()
        await on.settled()
        assert not on.app.over
        repl.way_out.cancel()
        repl.way_out.cancel()
        await on.until(lambda: on.app.over)


async def test_what_is_typed_between_two_escapes_is_kept() -> None:
    async with stage(FakeSession()) as on:
        await on.settled()
        repl = on.app.repl
        await on.type("one")
        repl.way_out.escape()
        repl.box.insert(" two")
        repl.way_out.escape()
        await on.settled()
        assert repl.box.text == "one two"
