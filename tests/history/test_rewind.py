"""A session goes back to an earlier input and forward again; stored and live agree on it."""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from gatewright.agent.errors import SessionError
from gatewright.agent.history.history import History, HistoryPlaces
from gatewright.agent.record.conversation import Conversation
from gatewright.agent.record.events import (
    AnyEvent,
    FileSaved,
    FilesRestored,
    Noticed,
    Rewound,
    TreeSaved,
    TurnEnded,
    UserMessage,
)
from gatewright.agent.record.events_of_past import FileState
from gatewright.agent.record.session_state import Standing
from gatewright.agent.session.session import Session
from gatewright.agent.transcript.reader import read_transcript
from gatewright.tools.access import Access, ShellText
from gatewright.tools.protocol import TextContent
from gatewright.tools.system.git import Caller
from tests.fakes.recorder import Recorder
from tests.history.desk import Desk, open_desk


@asynccontextmanager
async def talking(folder: Path, *prompts: str) -> AsyncGenerator[tuple[Desk, Recorder]]:
    desk = open_desk(folder)
    try:
        async with Recorder(desk.session) as seen:
            for prompt in prompts:
                await say(desk.session, seen, prompt)
            yield desk, seen
    finally:
        await desk.session.close()


async def say(session: Session, seen: Recorder, prompt: str) -> None:
    before = len(seen.of(TurnEnded))
    session.submit(prompt)
    await seen.until(TurnEnded, count=before + 1)
    await session.idle()


def words(desk: Desk) -> list[str]:
    return desk.talk.words


def check_stored(desk: Desk) -> None:
    """A resume comes to the very same history."""
    stored = read_transcript(desk.path)
    again = Conversation()
    for envelope in stored.branch:
        again.apply(envelope.event)
    assert again.view() == desk.talk.view()
    assert again.words == desk.talk.words
    assert stored.skipped == 0
    assert Standing.after(e.event for e in stored.branch).now.cost == pytest.approx(
        desk.session.past and desk.standing.now.cost
    )


async def test_back_and_forward_again(tmp_path: Path) -> None:
    async with talking(tmp_path, "write a=1", "write a=2", "write b=3") as (desk, _):
        past = desk.session.past
        points = past.points()
        assert [point.text for point in points] == ["write a=1", "write a=2", "write b=3"]
        assert [point.files for point in points] == [1, 1, 1]
        assert desk.files() == {"a": "2", "b": "3"}
        plan = await past.plan(points[1].id)
        assert sorted((step.target.path.name, step.kind) for step in plan) == [
            ("a", "change"), ("b", "delete"),
        ]  # fmt: skip
        gone = await past.go_back(points[1].id)
        assert gone.text == "write a=2"
        assert desk.files() == {"a": "1"}
        assert words(desk) == ["write a=1"]
        await desk.writer.barrier()
        check_stored(desk)
        await past.undo()
        assert desk.files() == {"a": "2", "b": "3"}
        assert words(desk) == ["write a=1", "write a=2", "write b=3"]
        await desk.writer.barrier()
        check_stored(desk)


async def test_only_the_talk_and_then_the_files(tmp_path: Path) -> None:
    async with talking(tmp_path, "write a=1", "write a=2", "write a=3") as (desk, seen):
        past = desk.session.past
        await past.go_back(past.points()[2].id, "talk")
        assert desk.files() == {"a": "3"}
        assert words(desk) == ["write a=1", "write a=2"]
        await say(desk.session, seen, "write c=9")
        await past.go_back(past.points()[1].id, "code")  # before a=2: also what the talk forgot
        assert desk.files() == {"a": "1"}
        assert words(desk) == ["write a=1", "write a=2", "write c=9"]
        assert seen.of(FilesRestored)[-1].to
        await past.undo()
        assert desk.files() == {"a": "3", "c": "9"}
        await desk.writer.barrier()
        check_stored(desk)


async def test_the_first_input_and_nothing_to_undo(tmp_path: Path) -> None:
    async with talking(tmp_path, "write a=1") as (desk, seen):
        with pytest.raises(SessionError, match="nothing to undo"):
            await desk.session.past.undo()
        with pytest.raises(SessionError, match="no such message"):
            await desk.session.past.go_back("nonsense")
        await desk.session.past.go_back(desk.session.past.points()[0].id)
        assert desk.files() == {}
        assert desk.talk.view() == ()
        rewound = await seen.until(Rewound)
        assert rewound.text == "write a=1"
        await say(desk.session, seen, "write d=4")
        await desk.writer.barrier()
        check_stored(desk)
        stored = [e.event for e in read_transcript(desk.path).branch]
        said = [event.content for event in stored if isinstance(event, UserMessage)]
        assert said == [(TextContent("write d=4"),)]


async def test_a_summary_can_be_taken_back(tmp_path: Path) -> None:
    async with talking(tmp_path, "write a=1", "write a=2" + " please" * 2_000) as (desk, seen):
        before = desk.talk.view()
        done = await desk.session.past.compact("look to the files")
        assert "look to the files" in desk.asked_last()
        assert done.summary == "A summary."
        assert desk.talk.view() != before
        await desk.writer.barrier()
        check_stored(desk)
        assert len(read_transcript(desk.path).branch) < len(seen.envelopes)
        await desk.session.past.undo()
        assert desk.talk.view() == before
        await desk.writer.barrier()
        check_stored(desk)


@pytest.mark.parametrize("seed", range(25))
async def test_stored_is_live_whatever_is_done(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    async with talking(tmp_path, "write a=0") as (desk, seen):
        past = desk.session.past
        for number in range(rng.randrange(3, 12)):
            match rng.choice(["say", "say", "back", "undo", "compact", "rename"]):
                case "back" if points := past.points():
                    what = rng.choice(["both", "talk", "code"])
                    await past.go_back(rng.choice(points).id, what)  # type: ignore[arg-type]  # pyright: ignore
                case "undo":
                    try:
                        await past.undo()
                    except SessionError:
                        continue
                case "compact" if number % 2:
                    await say(desk.session, seen, "long " * 2_000)
                    await past.compact()
                case "rename":
                    past.rename(f"title {number}")
                case _:
                    await say(desk.session, seen, f"write {rng.choice('abc')}={number}")
            await desk.writer.barrier()
            check_stored(desk)


async def test_calls_side_by_side_keep_one_snapshot(tmp_path: Path) -> None:
    (tmp_path / "project" / ".git").mkdir(parents=True)
    emitted: list[AnyEvent] = []
    places = HistoryPlaces(tmp_path / "own", tmp_path / "shared", tmp_path / "project")
    history = History(places, Caller(os.environ), emitted.append)
    running = Access(runs=ShellText("true", tmp_path))
    await asyncio.gather(*(history.checkpoints.before(running) for _ in range(5)))
    assert [type(event) for event in emitted] == [TreeSaved]
    await history.checkpoints.before(Access(writes=(Path("\0"),)))
    assert len(emitted) == 1
    await history.checkpoints.before(running, losing=True)  # uncommitted work is at stake
    assert [event.after for event in emitted if isinstance(event, TreeSaved)] == [
        False,
        True,
        False,
    ]


async def test_events_of_other_agents_do_not_get_into_the_branch(tmp_path: Path) -> None:
    async with talking(tmp_path, "write a=1") as (desk, seen):
        desk.journal.publish(Noticed(text="a child at work"), agent="main/a1")
        await say(desk.session, seen, "write a=2")
        await desk.session.past.go_back(desk.session.past.points()[1].id)
        await say(desk.session, seen, "write a=3")
        await desk.writer.barrier()
        check_stored(desk)
        assert words(desk) == ["write a=1", "write a=3"]


async def test_a_home_that_cannot_be_written_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "project" / ".git").mkdir(parents=True)
    (tmp_path / "file").write_text("", encoding="utf-8")
    (tmp_path / "project" / "a").write_text("1", encoding="utf-8")
    emitted: list[AnyEvent] = []
    blocked = tmp_path / "file" / "x"
    places = HistoryPlaces(blocked, blocked, tmp_path / "project")
    history = History(places, Caller(os.environ), emitted.append)
    for _ in range(2):
        access = Access(writes=(tmp_path / "project" / "a",), runs=ShellText("true", tmp_path))
        await history.checkpoints.before(access)
    kinds = [type(event).__name__ for event in emitted]
    assert kinds == ["FileSaved", "Noticed"]
    (step,) = await history.plan(emitted)
    assert step.kind == "leave"


async def test_going_back_leaves_the_lines_that_the_person_has_added(tmp_path: Path) -> None:
    async with talking(tmp_path, "write notes=1", "write notes=2") as (desk, seen):
        past, notes = desk.session.past, desk.root / "notes"

        def remember(line: str) -> None:
            """As `#` does."""
            notes.write_text(f"{notes.read_text('utf-8')}\n{line}\n", encoding="utf-8")
            state = FileState(path=str(notes))
            desk.journal.publish(FileSaved(state=state, line=line))

        remember("- use tabs")
        await say(desk.session, seen, "write other=3")
        assert [point.files for point in past.points()] == [1, 1, 1], "a line is no change of ours"
        await past.go_back(past.points()[1].id)
        assert desk.files() == {"notes": "1\n- use tabs\n"}
        await past.go_back(past.points()[0].id)
        assert desk.files() == {"notes": "- use tabs\n"}, "also when it goes back once more"
        remember("- and no semicolons")
        await past.undo()
        assert desk.files()["notes"].endswith("- use tabs\n- and no semicolons\n")


async def test_a_line_that_the_person_took_out_again_does_not_come_back(tmp_path: Path) -> None:
    async with talking(tmp_path, "write notes=1", "write notes=2") as (desk, _):
        path = desk.root / "notes"
        desk.journal.publish(FileSaved(state=FileState(path=str(path)), line="- use tabs"))
        await desk.session.past.go_back(desk.session.past.points()[1].id)
        assert desk.files() == {"notes": "1"}
