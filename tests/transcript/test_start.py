"""Which session a start goes on with, from wherever it is started, and what a copy of it holds."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from gatewright.agent.errors import SessionError
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.record.conversation import Conversation
from gatewright.agent.record.events import Compacted, TitleChanged
from gatewright.agent.session.start.resume import (
    COLD,
    LARGE,
    cold_notice,
    find_start,
    newest,
    offered,
)
from gatewright.agent.transcript.index import ago
from gatewright.agent.transcript.place import project_folder
from gatewright.agent.transcript.reader import read_transcript
from tests.agent.test_transcript import desk
from tests.transcript.stored import chained, started, turn, user, write


class Home:
    """Two projects with sessions."""

    def __init__(self, folder: Path) -> None:
        self.here = project_folder(folder, Path("/w/here"))
        self.there = project_folder(folder, Path("/w/there"))
        self.add(self.here, "aaaa-1", "mend the parser")
        self.add(self.here, "aabb-2", "mend the lexer")
        self.add(self.there, "cccc-3", "paint the parser")

    def add(self, folder: Path, id: str, prompt: str) -> None:
        cwd = "/w/here" if folder == self.here else "/w/there"
        write(folder / f"{id}.jsonl", chained([started(), user(prompt), *turn(1)]), cwd=cwd)

    def start(self, wanted: str, **more: object) -> str:
        options = msgspec.structs.replace(LaunchOptions(resume=wanted), **more)
        return find_start(options, self.here).id


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@pytest.mark.parametrize(
    ("wanted", "id"),
    [
        ("aaaa-1", "aaaa-1"),
        ("aaa", "aaaa-1"),
        ("cc", "cccc-3"),  # another directory's
        ("LEXER", "aabb-2"),
        ("the parser", "aaaa-1"),  # here comes before elsewhere
        ("paint", "cccc-3"),
    ],
)
def test_ids_parts_and_words(home: Home, wanted: str, id: str) -> None:
    assert home.start(wanted) == id


@pytest.mark.parametrize(
    ("wanted", "says"), [("aa", "2 sessions match"), ("zz", "No session"), ("mend", "2 sessions")]
)
def test_none_or_too_many(home: Home, wanted: str, says: str) -> None:
    with pytest.raises(SessionError, match=says):
        home.start(wanted)


def test_elsewhere_is_said(home: Home) -> None:
    start = find_start(LaunchOptions(resume="cccc"), home.here)
    assert start.notice.startswith("This session worked in /w/there and goes on here now.")
    assert "agent --resume cccc-3" in start.notice
    assert start.path.parent == home.there
    assert find_start(LaunchOptions(resume="aaaa"), home.here).notice == ""


@pytest.mark.parametrize("led", [False, True])
def test_a_file_from_elsewhere_goes_on_in_a_copy_at_our_place(
    home: Home, tmp_path: Path, led: bool
) -> None:
    """What we keep for a session lies beside it: never where commands write."""
    project = tmp_path / "project"
    project.mkdir()
    write(project / "s.jsonl", chained([started(), user("hi"), *turn(1)]), cwd="/w/here")
    given = project / "s.jsonl"
    if led:
        (project / "t.jsonl").symlink_to("s.jsonl")
        given = project / "t.jsonl"
    start = find_start(LaunchOptions(resume=str(given)), home.here)
    assert start.path.parent == home.here
    assert (start.on_disk, start.foreign, len(start.stored)) == (False, True, 8)
    assert start.notice == "This goes on in a copy: the file stays as it is."


def test_a_path_of_our_own_is_gone_on_with_where_it_really_lies(home: Home, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(home.here)
    start = find_start(LaunchOptions(resume=str(tmp_path / "link" / "aaaa-1.jsonl")), home.here)
    assert (start.path, start.foreign) == (home.here.resolve() / "aaaa-1.jsonl", False)


async def test_a_copy_leaves_the_original_alone(home: Home, tmp_path: Path) -> None:
    original = home.here / "aaaa-1.jsonl"
    before = original.read_bytes()
    start = find_start(LaunchOptions(resume="aaaa", fork_session=True), home.here)
    assert start.id != "aaaa-1"
    assert (start.forked_from, start.on_disk) == ("aaaa-1", False)
    async with desk(start.path) as made:
        await made.write(*(envelope.event for envelope in start.stored), user("in the copy"))
    assert original.read_bytes() == before
    copied, first = Conversation(), Conversation()
    for envelope in read_transcript(start.path).branch:
        copied.apply(envelope.event)
    for envelope in start.stored:
        first.apply(envelope.event)
    first.apply(user("in the copy"))
    assert copied.view() == first.view()


async def test_a_copy_of_a_long_session_begins_at_its_boundary(home: Home) -> None:
    done = Compacted(summary="s", trigger="auto", tokens_before=9, opening="before: s")
    events = [started(), *turn(1), TitleChanged(title="T"), done, *turn(2)]
    write(home.here / "dddd-4.jsonl", chained(events))
    start = find_start(LaunchOptions(resume="dddd", fork_session=True), home.here)
    assert [envelope.event for envelope in start.stored] == [done, *turn(2)]


def test_a_large_cold_session_says_what_it_costs(home: Home) -> None:
    start = find_start(LaunchOptions(resume="aaaa"), home.here)
    last = start.stored[-1].timestamp
    text = cold_notice(start, LARGE, 0.256, last + COLD)
    assert "about 50,000 tokens" in text
    assert "$0.26" in text
    assert "/compact" in text
    assert cold_notice(start, LARGE - 1, 1.0, last + COLD) == ""
    assert cold_notice(start, LARGE, 1.0, last + COLD - 1) == ""
    new = find_start(LaunchOptions(), home.here)
    assert cold_notice(new, LARGE, 1.0, last + COLD) == ""


def test_what_a_person_picks_from(home: Home) -> None:
    for age, id in ((90_000, "aaaa-1"), (150, "aabb-2")):
        os.utime(home.here / f"{id}.jsonl", (1e9 - age, 1e9 - age))
    rows = offered(home.here, now=1e9)
    assert [(row.id, row.label, *row.detail.split("  ")) for row in rows] == [
        ("aabb-2", "mend the lexer", "", "2 min", "", "", " 1 kB"),
        ("aaaa-1", "mend the parser", "", "", "1 d", "", "", " 1 kB"),
    ]
    assert [ago(seconds) for seconds in (-5, 59, 60, 7_200)] == ["now", "now", "1 min", "2 h"]
    assert offered(home.here / "empty", now=0) == ()


def test_what_was_used_last(home: Home) -> None:
    for age, id in ((90_000, "aaaa-1"), (150, "aabb-2")):
        os.utime(home.here / f"{id}.jsonl", (1e9 - age, 1e9 - age))
    (home.here / "zz.jsonl").write_text("no session", encoding="utf-8")
    os.utime(home.here / "zz.jsonl", (1e9, 1e9))
    assert newest(home.here, now=1e9) == ("mend the lexer", "2 min")
    assert newest(home.here / "empty", now=0) == ("", "")
