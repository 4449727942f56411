"""Whatever a crash leaves of a transcript, it resumes, and only the torn record is lost."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest

from gatewright.agent.errors import SessionError
from gatewright.agent.record import codec as wire
from gatewright.agent.record.events import (
    AnyEvent,
    AssistantMessage,
    EffortChanged,
    Envelope,
    ModeChanged,
    ModelChanged,
    SessionStarted,
    TextDelta,
    TitleChanged,
    ToolFinished,
    TurnEnded,
    UserMessage,
)
from gatewright.agent.record.messages import CallPart, TextPart
from gatewright.agent.transcript.index import find_session, list_sessions
from gatewright.agent.transcript.place import project_folder
from gatewright.agent.transcript.reader import read_transcript
from gatewright.agent.transcript.writer import TranscriptLock, TranscriptWriter
from gatewright.agent.turn.stop import Stop
from gatewright.tools.protocol import TextContent
from tests.fakes.journals import journal as new_journal

HEADER = wire.Header(version=1, id="s1", cwd="/w", created=1.0, app="0")


def user(text: str) -> UserMessage:
    return UserMessage(content=(TextContent(text),))


HISTORY: list[AnyEvent] = [
    SessionStarted(model="m", mode="default", cwd="/w", app="0"),
    user("look at ünïcode"),
    AssistantMessage(id="1", model="m", parts=(TextPart("I will."), CallPart("c1", "Read", {}))),
    ToolFinished(call_id="c1", ok=True, content=(TextContent("line\n" * 3),)),
    AssistantMessage(id="2", model="m", parts=(TextPart("Done."),)),
    TurnEnded(stop=Stop.COMPLETED),
]


class Desk:
    """A journal with a writer, as a session has them."""

    def __init__(self, path: Path, *, stored: Sequence[Envelope] = ()) -> None:
        self.warnings: list[str] = []
        self.journal = new_journal()
        self.journal.restore(stored)
        self.writer = TranscriptWriter(
            path, HEADER, lock=TranscriptLock(), warn=self.warnings.append
        )
        self.task = asyncio.create_task(
            self.writer.run(self.journal.hub().subscribe(since=len(stored)))
        )

    async def write(self, *events: AnyEvent) -> None:
        await asyncio.sleep(0)  # the writer task takes its subscription
        for event in events:
            self.journal.publish(event)
        await self.writer.barrier()

    async def close(self) -> None:
        self.journal.close()
        await self.task
        self.writer.close()


@asynccontextmanager
async def desk(path: Path, *, stored: Sequence[Envelope] = ()) -> AsyncGenerator[Desk]:
    made = Desk(path, stored=stored)
    try:
        yield made
    finally:
        await made.close()


def events_of(path: Path) -> list[AnyEvent]:
    return [envelope.event for envelope in read_transcript(path).branch]


async def test_what_was_published_is_on_disk_behind_the_barrier(tmp_path: Path) -> None:
    path = tmp_path / "p" / "s1.jsonl"
    async with desk(path) as made:
        await made.write(*HISTORY, TextDelta(text="not kept"))
        assert events_of(path) == HISTORY
        assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)


async def test_a_session_nobody_spoke_in_leaves_no_file(tmp_path: Path) -> None:
    path = tmp_path / "s1.jsonl"
    async with desk(path) as made:
        await made.write(HISTORY[0], ModeChanged(mode="plan", by="user"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "choice",
    [ModeChanged(mode="plan", by="user"), ModelChanged(model="n"), EffortChanged(effort="high")],
)
async def test_a_choice_is_kept_where_the_session_can_be_found_again(
    tmp_path: Path, choice: AnyEvent
) -> None:
    path = tmp_path / "s1.jsonl"
    async with desk(path) as made:
        made.writer.known = True
        await made.write(HISTORY[0], ModeChanged(mode="default", by="settings"))
        assert not path.exists(), "that was nobody's choice"
        await made.write(choice)
        assert events_of(path)[-1] == choice


async def test_an_id_that_was_given_away_keeps_what_was_chosen_before(tmp_path: Path) -> None:
    path = tmp_path / "s1.jsonl"
    async with desk(path) as made:
        await made.write(HISTORY[0], EffortChanged(effort="high"))
        assert not path.exists()
        await made.writer.keep()
        assert events_of(path) == [HISTORY[0], EffortChanged(effort="high")]


async def test_a_cut_at_every_byte_resumes(tmp_path: Path) -> None:
    whole = tmp_path / "whole.jsonl"
    async with desk(whole) as made:
        await made.write(*HISTORY)
    data = whole.read_bytes()
    header_end = data.index(b"\n") + 1
    ends = [i + 1 for i, byte in enumerate(data) if byte == 10]
    path = tmp_path / "s1.jsonl"
    for cut in range(header_end, len(data) + 1):
        path.write_bytes(data[:cut])
        complete = sum(end <= cut for end in ends) - 1
        stored = read_transcript(path)
        assert [envelope.event for envelope in stored.branch] == HISTORY[:complete]
        assert (stored.torn, stored.skipped) == (cut not in ends, 0)


async def test_writing_goes_on_behind_a_torn_line(tmp_path: Path) -> None:
    path = tmp_path / "s1.jsonl"
    async with desk(path) as made:
        await made.write(*HISTORY)
    with path.open("ab") as file:
        file.write(b'{"type":"user","conte')
    stored = read_transcript(path)
    async with desk(path, stored=stored.branch) as made:
        await made.write(user("again"))
    assert events_of(path) == [*HISTORY, user("again")]
    assert (tmp_path / "s1.torn").read_bytes() == b'{"type":"user","conte\n'


async def test_one_bad_line_in_the_middle_costs_only_itself(tmp_path: Path) -> None:
    path = tmp_path / "s1.jsonl"
    async with desk(path) as made:
        await made.write(*HISTORY)
    lines = path.read_bytes().splitlines(keepends=True)
    lines[3] = b"\x00" * 40 + b"\n"
    path.write_bytes(b"".join(lines))
    stored = read_transcript(path)
    assert [envelope.event for envelope in stored.branch] == HISTORY[:2] + HISTORY[3:]
    assert stored.skipped == 1


async def test_a_second_writer_writes_a_copy(tmp_path: Path) -> None:
    path = tmp_path / "s1.jsonl"
    async with desk(path) as first, desk(path) as second:
        await first.write(*HISTORY)
        await second.write(user("me too"))
        assert "Another process works on this session" in second.warnings[0]
        assert events_of(path) == HISTORY
        assert events_of(second.writer.path) == [user("me too")]
        header = read_transcript(second.writer.path).header
        assert (header.id, header.forked_from) == (second.writer.path.stem, "s1")
    lock = TranscriptLock()
    lock.take(path)
    with pytest.raises(SessionError, match="another process"):
        TranscriptLock().take(path)
    lock.release()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
async def test_a_full_disk_is_told_once_and_nothing_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "s1.jsonl"
    path.symlink_to("/dev/full")
    async with desk(path) as made:
        await made.write(*HISTORY[:3])
        await made.write(*HISTORY[3:5])
        assert len(made.warnings) == 1
        assert "not being saved" in made.warnings[0]
        path.unlink()  # room again: the next write brings everything that waited
        made.writer.reopen()
        await made.write(HISTORY[5])
    assert events_of(path) == HISTORY
    assert read_transcript(path).skipped == 0


async def test_no_home_is_told_and_harmless(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    async with desk(tmp_path / "file" / "s1.jsonl") as made:
        await made.write(*HISTORY)
        assert len(made.warnings) == 1


async def test_sessions_are_listed_newest_first_and_found(tmp_path: Path) -> None:
    for number, (name, text) in enumerate([("aaa-1", "fix the parser"), ("abb-2", "add tests")]):
        path = tmp_path / f"{name}.jsonl"
        header = wire.Header(version=1, id=name, cwd="/w", created=1.0, app="0")
        envelope = Envelope(
            seq=1, uuid="u", parent="", timestamp=1.0, agent="main", event=user(f" {text}\nmore")
        )
        title = Envelope(
            seq=2, uuid="v", parent="u", timestamp=1.0, agent="main", event=TitleChanged(title="T")
        )
        lines = [wire.encode_header(header), wire.encode(envelope, name)]
        path.write_bytes(b"".join([*lines, wire.encode(title, name)] if number else lines))
        os.utime(path, (100 + number, 100 + number))
    (tmp_path / "junk.jsonl").write_bytes(b"junk\n")
    listed = list_sessions(tmp_path)
    assert [(item.id, item.title) for item in listed] == [
        ("abb-2", "T"),
        ("aaa-1", "fix the parser more"),
    ]
    assert find_session(tmp_path, "aa").stem == "aaa-1"
    assert find_session(tmp_path, "PARSER").stem == "aaa-1"
    with pytest.raises(SessionError, match="2 sessions match"):
        find_session(tmp_path, "a")
    with pytest.raises(SessionError, match="No session"):
        find_session(tmp_path, "zzz")


def test_folders_of_long_paths_stay_apart() -> None:
    one, two = (project_folder(Path("/h"), Path("/" + "d" * 300 + end)) for end in "ab")
    assert one != two
    assert len(one.name) < 255
    assert project_folder(Path("/h"), Path("/w/my.proj")) == Path("/h/projects/-w-my-proj")


def test_a_transcript_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "s1.jsonl"
    path.write_bytes(wire.encode_header(msgspec.structs.replace(HEADER, version=wire.VERSION + 1)))
    with pytest.raises(SessionError, match="newer version"):
        read_transcript(path)
