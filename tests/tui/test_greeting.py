"""The screen on which nothing was said yet."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from gatewright.agent.commands.outcome import Choice
from gatewright.agent.record.events import UserMessage
from gatewright.tools.protocol import TextContent
from gatewright.tui.sessions.resuming import Last, OpenSession, Resuming
from gatewright.tui.transcript.greeting import NONE, Facts, greeting
from tests.fakes.fake_session import FakeSession
from tests.tui.stage import stage


def rows(width: int, *files: str, answering: str = "demo/demo (--model)") -> list[str]:
    made = greeting(Path("/home/sam/harbour"), width, Facts(answering, files))
    assert all(row.width <= width for row in made)
    return [row.plain.strip() for row in made]


def test_who_answers_and_what_the_model_is_told() -> None:
    shown = rows(78, "AGENTS.md", "~/.gatewright/AGENTS.md")
    assert shown[1:4] == [
        "/home/sam/harbour",
        "demo/demo (--model)",
        "AGENTS.md, ~/.gatewright/AGENTS.md",
    ]
    assert rows(78)[3] == NONE
    assert rows(78, *"abcde")[3] == "a, b, c and 2 more"


@pytest.mark.parametrize("width", [20, 38, 78, 200])
def test_two_things_to_try(width: int) -> None:
    shown = [row for row in rows(width, "AGENTS.md") if row.startswith("\u203a")]
    assert len(shown) == 2
    assert ("earlier session" in shown[1]) == (width >= 78)


def test_no_row_moves_while_things_become_known() -> None:
    before = greeting(Path("/x"), 78, Facts())
    for last in (None, Last(), Last("Mend the lease test", "2 h")):
        after = greeting(Path("/x"), 78, Facts("demo/demo", ("AGENTS.md",), last))
        assert len(before) == len(after)


LONG = "Mend the lease test that fails now and then"


@pytest.mark.parametrize(
    ("last", "width", "row"),
    [
        (Last("Mend it", "2 h"), 78, "last: Mend it, 2 h ago (agent -c)"),
        (Last("Mend it", "now"), 78, "last: Mend it, now (agent -c)"),
        (Last(LONG, "3 d"), 58, "last: Mend the lease test that fail\u2026, 3 d ago (agent -c)"),
        (Last(LONG, "3 d"), 40, "last: Mend the lease test\u2026 (agent -c)"),
        (Last(LONG, "3 d"), 30, "last: Mend the lease test t\u2026"),
        (Last("a\x1b[31m\nb", "1 d"), 78, "last: a<U+001B>[31m b, 1 d ago (agent -c)"),
        (Last(), 78, "no earlier session here"),
    ],
)
def test_the_session_that_was_last(last: Last, width: int, row: str) -> None:
    made = greeting(Path("/x"), width, Facts("m", ("A.md",), last))
    assert all(row.width <= width for row in made)
    assert made[4].plain.strip() == row
    tried = " ".join(line.plain for line in made[6:8])
    assert ("/resume" in tried, "/help" in tried) == (bool(last.title), not last.title)


async def test_it_is_looked_up_once_the_screen_is_there() -> None:
    asked: list[str] = []
    ready = asyncio.Event()

    async def sessions() -> tuple[Choice, ...]:
        return ()

    async def last() -> Last:
        asked.append("last")
        await ready.wait()
        return Last("Mend it", "2 h")

    def going_on(id: str) -> OpenSession:
        raise AssertionError(id)

    async with stage() as s:
        s.app.resuming = Resuming(sessions, going_on, picks=False, last=last)
        s.app.repl.welcome.begin()
        await s.see("? keys", "\u203a /resume")
        assert "last:" not in s.text()
        ready.set()
        await s.see("last: Mend it, 2 h ago (agent -c)")
        await s.type("hello")
        await s.press("enter")
        await s.until(lambda: s.session.sent == ["hello"])
        s.session.publish(UserMessage(content=(TextContent("hello"),)))
        await s.gone("last:")
        s.app.repl.welcome.begin()
        assert asked == ["last"], "where something was said nobody looks"


async def test_it_names_the_files_once_they_are_read() -> None:
    session = FakeSession()
    session.instructions = None
    async with stage(session) as s:
        await s.see("? keys")
        assert NONE not in s.text()
        session.instructions = ("AGENTS.md",)
        await s.wait(1)
        await s.see("AGENTS.md")


async def test_all_of_it_is_seen_at_80_by_24() -> None:
    async with stage() as s:
        await s.see("Gatewright", NONE, "\u203a /resume", "? keys")
