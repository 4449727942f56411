"""The commands that lead to other sessions: which one is meant, and what is said where none is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gatewright.agent.commands.outcome import (
    Change,
    ClearHistory,
    Outcome,
    Pick,
    Say,
    Switch,
)
from gatewright.agent.commands.registry import Front
from gatewright.agent.session.start.resume import matching
from gatewright.agent.transcript.index import Listed
from gatewright.agent.transcript.writer import TranscriptLock
from tests.fakes.commands import told as said
from tests.history.desk import Desk
from tests.history.test_rewind import talking
from tests.transcript.stored import chained, started, turn, user, write


async def goto(desk: Desk, line: str) -> Outcome:
    return await desk.session.run_command(line, Front(switches=True))


def prepared(desk: Desk, *titles: str) -> Path:
    """Other sessions beside this one, the last the newest."""
    folder = desk.session.past._frame.folder  # pyright: ignore[reportPrivateUsage]
    assert folder is not None
    for number, title in enumerate(titles):
        path = folder / f"{number}aaa-{number}.jsonl"
        write(path, chained([started(), user(title), *turn(1)]))
        os.utime(path, (1e9 + number, 1e9 + number))
    return folder


async def test_resume_leads_to_the_one_that_is_meant(tmp_path: Path) -> None:
    async with talking(tmp_path, "write a=1") as (desk, _):
        folder = prepared(desk, "mend the parser", "mend the lexer")
        for wanted, id in (("0aaa-0", 0), ("0a", 0), ("LEXER", 1), ("1", 1), ("2", 0)):
            to = await goto(desk, f"/resume {wanted}")
            assert to == Switch(path=str(folder / f"{id}aaa-{id}.jsonl"), mode="default"), wanted
        several = await goto(desk, "/resume mend")
        assert isinstance(several, Pick)
        assert [row.id for row in several.choices] == ["1aaa-1", "0aaa-0"]
        listed = said(await goto(desk, "/resume"))
        assert "1  1aaa-1" in listed
        assert "/resume with a number" in listed
        assert "No session here matches 'paint'" in said(await goto(desk, "/resume paint"))
        here = await goto(desk, f"/resume {desk.session.id}")
        assert said(here) == "You are in this session already."


async def test_one_that_is_open_elsewhere_is_marked_and_offered_as_a_copy(tmp_path: Path) -> None:
    async with talking(tmp_path, "write a=1") as (desk, _):
        folder = prepared(desk, "mend the parser", "mend the lexer")
        elsewhere = TranscriptLock()
        elsewhere.take(folder / "1aaa-1.jsonl")
        listed = await goto(desk, "/resume")
        assert isinstance(listed, Pick)
        marks = {row.id: row.source for row in listed.choices}
        assert (marks["1aaa-1"], marks["0aaa-0"]) == ("open elsewhere", "main")
        asked = await listed.choose("1aaa-1")
        assert isinstance(asked, Pick)
        assert [row.label for row in asked.choices] == ["Go on in a copy", "Stay here"]
        assert await asked.choose("") == Say(())
        to = await asked.choose("copy")
        assert isinstance(to, Switch)
        assert (to.path, to.copy) == (str(folder / "1aaa-1.jsonl"), True)
        assert not to.carries, "the copy has the model of what it is a copy of"
        elsewhere.release()
        assert await listed.choose("1aaa-1") == Switch(path=to.path, mode="default")


async def test_sessions_of_other_directories_are_named_and_not_entered(tmp_path: Path) -> None:
    async with talking(tmp_path, "write a=1") as (desk, _):
        folder = prepared(desk)
        there = folder.parent / "-w-there"
        write(there / "cccc-3.jsonl", chained([started(), user("paint"), *turn(1)]), cwd="/w/there")
        text = said(await goto(desk, "/resume cccc"))
        assert "cd /w/there && agent --resume cccc-3" in text


async def test_a_front_end_that_cannot_go_over_is_told_the_command_line(tmp_path: Path) -> None:
    async with talking(tmp_path, "write a=1") as (desk, _):
        prepared(desk, "mend the parser")
        run = desk.session.run_command
        assert "agent --resume SESSION" in said(await run("/resume"))
        assert "agent --resume 0aaa-0 goes on" in said(await run("/resume parser"))
        forked = said(await run("/fork"))
        assert forked == f"agent --resume {desk.session.id} --fork-session goes on in a copy."
        assert await run("/clear") == Change(ClearHistory())


async def test_fork_and_clear_take_along_what_was_chosen(tmp_path: Path) -> None:
    async with talking(tmp_path, "write a=1") as (desk, _):
        prepared(desk)
        await desk.session.run_command("/mode plan")
        to = await goto(desk, "/fork  my   twin ")
        assert isinstance(to, Switch)
        assert (to.copy, to.title, to.mode) == (True, "my twin", "plan")
        assert Path(to.path).stem == desk.session.id
        assert to.model == desk.session.model
        assert "This is a copy of: write a=1" in to.said
        unnamed = await goto(desk, "/fork")
        assert isinstance(unnamed, Switch)
        assert unnamed.title == "write a=1 (copy)"
        fresh = await goto(desk, "/clear")
        assert isinstance(fresh, Switch)
        assert (fresh.path, fresh.copy, fresh.mode) == ("", False, "plan")
        assert f"/resume {desk.session.id[:13]} goes back" in fresh.said


async def test_nothing_to_copy_yet(tmp_path: Path) -> None:
    async with talking(tmp_path) as (desk, _):
        prepared(desk)
        assert "nothing to copy yet" in said(await goto(desk, "/fork"))
        assert await goto(desk, "/clear") == Switch(mode="default", model=desk.session.model)


@pytest.mark.parametrize("line", ["/resume", "/resume 1", "/fork", "/clear"])
async def test_a_running_turn_is_stopped_first(tmp_path: Path, line: str) -> None:
    async with talking(tmp_path, "write a=1") as (desk, _):
        prepared(desk, "mend the parser")
        desk.session.submit("write b=2")
        assert desk.session.busy
        outcome = await goto(desk, line)
        assert isinstance(outcome, Say)
        assert "Interrupt the running turn first" in said(outcome)
        await desk.session.idle()


def test_an_id_comes_before_a_number_and_a_number_before_words() -> None:
    def listed(id: str, title: str) -> Listed:
        return Listed(id=id, path=Path(id), title=title, cwd="", changed=0, size=0)

    sessions = [listed("aa", "the 2 of us"), listed("2", "x"), listed("2b", "y")]
    assert matching(sessions, "2") == [sessions[1]]
    assert matching(sessions[::2], "2") == [sessions[2]]
    assert matching(sessions, "3") == [sessions[2]]
    assert matching(sessions, "OF US") == [sessions[0]]
    assert matching(sessions, "9") == []
