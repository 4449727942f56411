"""The screen on which nothing was said yet."""

from __future__ import annotations

from pathlib import Path

import pytest

from gatewright.tui.transcript.greeting import NONE, greeting
from tests.fakes.fake_session import FakeSession
from tests.tui.stage import stage


def rows(width: int, *files: str, answering: str = "demo/demo (--model)") -> list[str]:
    made = greeting(Path("/home/sam/harbour"), width, answering, files)
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
    before = greeting(Path("/x"), 78)
    after = greeting(Path("/x"), 78, "demo/demo", ("AGENTS.md",))
    assert len(before) == len(after)


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
