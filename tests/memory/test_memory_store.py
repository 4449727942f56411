"""The files of a memory: killed at any step, written by two, edited by hand, hostile, huge."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace

from gatewright.agent.autonomy.memory.change_set import MemoryFailure
from gatewright.agent.autonomy.memory.facts import BYTES, INDEX, LINES, Fact
from gatewright.agent.autonomy.memory.memory_store import MemoryStore
from tests.fakes.examples import many
from tests.fakes.waiting import PATIENCE

STRIDE = 4 // many(4)  # each step with the proofs
A = Fact(topic="build", text="The fixtures come first.", day="2026-11-01", session="5e55104a")
B = replace(A, text="The second fact is about caching.", topic="cache", about="what is kept")
C = replace(A, text="A third one came much later.", topic="late")


class Killed(BaseException):
    """Ends a process in the middle, as far as the disk can tell."""


def killed_at(step: int) -> Callable[[str], None]:
    left = [step]

    def count(name: str) -> None:
        del name
        left[0] -= 1
        if left[0] < 0:
            raise Killed

    return count


def files(folder: Path) -> Mapping[str, bytes]:
    """What a person finds there."""
    names = [path for path in folder.iterdir() if not path.name.startswith(".")]
    return {path.name: path.read_bytes() for path in names}


def text(folder: Path, name: str = INDEX) -> str:
    return (folder / name).read_text(encoding="utf-8")


def test_a_fact_stands_in_its_topic_and_in_the_index(tmp_path: Path) -> None:
    store = MemoryStore(tmp_path / "m")
    store.learn([A, B])
    assert text(store.folder).splitlines() == [
        "- [build] The fixtures come first. (2026-11-01)",
        "- [cache] The second fact is about caching. (2026-11-01)",
    ]
    assert text(store.folder, "cache.md") == (
        "---\nname: cache\ndescription: what is kept\ntype: project\n---\n\n"
        "- The second fact is about caching. [2026-11-01 5e55104a]\n"
    )
    assert (store.folder / INDEX).stat().st_mode & 0o077 == 0
    store.learn([A])
    assert text(store.folder).count("fixtures") == text(store.folder, "build.md").count("fix") == 1
    assert [fact.text for fact in store.look().facts()] == [A.text, B.text]


@pytest.mark.parametrize("work", ["learn", "dreamt", "undo", "settle"])
def test_killed_at_every_step_nothing_is_lost(tmp_path: Path, work: str) -> None:
    """Whoever comes next finds what was before or what was to be, and can go on."""
    for step in range(0, 60, STRIDE):
        folder = tmp_path / str(step)
        store = MemoryStore(folder)
        store.learn([A])
        store.wait([C])
        if work == "undo":
            dream(store)
        before = files(folder)
        broken = MemoryStore(folder, killed_at(step))
        try:
            done(broken, work)
        except Killed:
            again = MemoryStore(folder)
            again.look()
            if files(folder) == before:
                done(again, work)
        else:
            assert step > 4, "nothing was ever killed"
            return
        wanted = MemoryStore(tmp_path / f"{step}w")
        wanted.learn([A])
        wanted.wait([C])
        if work == "undo":
            dream(wanted)
        done(wanted, work)
        assert files(folder) == files(wanted.folder), step
        assert not [path for path in folder.iterdir() if path.name == ".journal.json"]
        again.learn([B])
        assert B.text in text(folder)
    raise AssertionError("it never came to its end")


def dream(store: MemoryStore) -> None:
    before = {name: data for name, data in store.look().files.items() if name[0] != "."}
    after = {**before, INDEX: b"- [build] less\n", "build.md": None}
    store.dreamt(before, after)


def done(store: MemoryStore, work: str) -> None:
    match work:
        case "learn":
            store.learn([A, B])
        case "dreamt":
            dream(store)
        case "undo":
            store.undo()
        case _:
            store.settle(lambda number: number == 1, keep=True)


KILLED = """
import os, signal, sys
from pathlib import Path
from gatewright.agent.autonomy.memory.facts import Fact
from gatewright.agent.autonomy.memory.memory_store import MemoryStore
def step(name):
    if name == sys.argv[2]:
        os.kill(os.getpid(), signal.SIGKILL)
MemoryStore(Path(sys.argv[1]), step).learn([Fact(topic="cache", text="Learnt by the dead.")])
"""


@pytest.mark.parametrize("step", ["put .journal.json", "half of MEMORY.md"])
def test_a_process_that_is_killed(tmp_path: Path, step: str) -> None:
    store = MemoryStore(tmp_path)
    store.learn([A])
    ended = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path), step], check=False)
    assert ended.returncode == -signal.SIGKILL
    assert "Learnt by the dead." in "".join(fact.text for fact in store.look().facts())
    assert "Learnt by the dead." in store.index()


WRITER = """
import sys
from pathlib import Path
from gatewright.agent.autonomy.memory.facts import Fact
from gatewright.agent.autonomy.memory.memory_store import MemoryStore
store = MemoryStore(Path(sys.argv[1]))
for number in range(15):
    store.learn([Fact(topic="both", text=f"Writer {sys.argv[2]} says number {number}.")])
"""


def test_two_processes_write_and_lose_nothing(tmp_path: Path) -> None:
    argv = [sys.executable, "-c", WRITER, str(tmp_path)]
    running = [subprocess.Popen([*argv, name]) for name in "ab"]
    assert [each.wait(PATIENCE) for each in running] == [0, 0]
    said = {fact.text for fact in MemoryStore(tmp_path).look().facts()}
    assert len(said) == 30
    assert len(text(tmp_path).splitlines()) == 30


def test_what_a_hand_wrote_stays_byte_for_byte(tmp_path: Path) -> None:
    store = MemoryStore(tmp_path)
    mine = "# My own\r\n\n* other lists\n- a line without a date"
    (tmp_path / INDEX).write_bytes(mine.encode())
    (tmp_path / "build.md").write_bytes(mine.encode())
    store.learn([A])
    assert (tmp_path / INDEX).read_bytes().startswith(mine.encode() + b"\n- [build]")
    assert (tmp_path / "build.md").read_bytes() == mine.encode() + b"\n" + A.line.encode() + b"\n"
    assert store.index().startswith("# My own")


def test_a_full_index_gets_no_more_and_the_topic_does(tmp_path: Path) -> None:
    store = MemoryStore(tmp_path)
    (tmp_path / INDEX).write_text("- x\n" * LINES, encoding="utf-8")
    store.learn([A])
    assert A.text in text(tmp_path, "build.md")
    assert text(tmp_path) == "- x\n" * LINES
    (tmp_path / INDEX).write_text("y" * (BYTES - 5) + "\n", encoding="utf-8")
    store.learn([B])
    assert B.text not in text(tmp_path)
    (tmp_path / INDEX).write_text("line\n" * 9_000, encoding="utf-8")
    assert len(store.index().splitlines()) == LINES
    (tmp_path / INDEX).write_text("whole\n" + "z" * BYTES, encoding="utf-8")
    assert store.index() == "whole"


@pytest.mark.parametrize("name", [INDEX, "build.md"])
def test_nothing_goes_through_a_link(tmp_path: Path, name: str) -> None:
    folder, other = tmp_path / "m", tmp_path / "other"
    folder.mkdir()
    other.write_text("- [x] theirs\n", encoding="utf-8")
    (folder / name).symlink_to(other)
    store = MemoryStore(folder)
    assert "theirs" not in store.index()
    assert store.topics() == []
    assert "is a link" in store.look().left_out[name]
    store.learn([A])
    assert other.read_text(encoding="utf-8") == "- [x] theirs\n"
    assert (folder / name).is_symlink()
    assert A.text in [fact.text for fact in store.look().facts()]
    with pytest.raises(MemoryFailure, match=r"is a link|changed while"):
        store.edit(name, "", "mine")


def test_a_link_in_the_way_of_writing_is_not_followed(tmp_path: Path) -> None:
    folder, other = tmp_path / "m", tmp_path / "other"
    folder.mkdir()
    other.write_text("theirs", encoding="utf-8")
    for name in (".MEMORY.md.new", ".build.md.new", ".journal.json.new"):
        (folder / name).symlink_to(other)
    MemoryStore(folder).learn([A])
    assert other.read_text(encoding="utf-8") == "theirs"
    (folder / ".journal.json").symlink_to(other)
    with pytest.raises(MemoryFailure, match="is a link"):
        MemoryStore(folder).learn([B])
    (folder / ".journal.json").unlink()
    (folder / ".lock").unlink()
    (folder / ".lock").symlink_to(other)
    with pytest.raises(MemoryFailure, match="cannot be used"):
        MemoryStore(folder).learn([B])


def test_a_journal_that_names_other_places_is_refused(tmp_path: Path) -> None:
    store = MemoryStore(tmp_path / "m")
    store.learn([A])
    for name in ("../evil", "/tmp/evil", "", ".."):
        evil = f'[{{"name": "{name}", "before": null, "after": "eA=="}}]'
        (store.folder / ".journal.json").write_text(evil, encoding="utf-8")
        with pytest.raises(MemoryFailure, match="no file here"):
            store.learn([B])
    (store.folder / ".journal.json").write_text("{", encoding="utf-8")
    with pytest.raises(MemoryFailure, match="not as it was written"):
        store.look()
    assert not (tmp_path / "evil").exists()


def test_a_journal_that_is_nested_for_ever_is_told(tmp_path: Path) -> None:
    store = MemoryStore(tmp_path / "m")
    store.learn([A])
    for text in (b'[{"name":' + b"[" * 50_000, b'[{"x":' + b'{"a":' * 50_000):
        (store.folder / ".journal.json").write_bytes(text)
        with pytest.raises(MemoryFailure, match="not as it was written"):
            store.look()


def test_a_pipe_and_a_directory_wait_for_nobody(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / "folder.md").mkdir()
    (tmp_path / "odd.md").write_bytes(b"- half a \xff character\n")
    store = MemoryStore(tmp_path)
    store.learn([A])
    assert set(store.look().left_out) == {"pipe.md", "folder.md", "odd.md"}
    assert [each.name for each in store.topics()] == ["build", "odd"]


def test_a_topic_of_100_mb_is_neither_read_nor_written_whole(tmp_path: Path) -> None:
    with (tmp_path / "build.md").open("wb") as file:
        file.write(b"- The first of it.\n")
        file.truncate(100_000_000)
    store = MemoryStore(tmp_path)
    store.learn([A])
    assert (tmp_path / "build.md").stat().st_size == 100_000_000
    assert A.text in text(tmp_path, "build-2.md")
    assert "too long" in store.look().left_out["build.md"]
    assert [fact.text for topic in store.topics() for fact in topic.facts] == [
        A.text, "The first of it.",
    ]  # fmt: skip


@pytest.mark.parametrize("name", [".waiting.json", ".dream.json", ".proposal.json"])
def test_what_is_nested_for_ever_is_nothing(tmp_path: Path, name: str) -> None:
    store = MemoryStore(tmp_path / "m")
    store.learn([A])
    (store.folder / name).write_bytes(b'{"a":' * 50_000)
    assert not store.waiting()
    assert store.proposal() is None
    with pytest.raises(MemoryFailure, match="no /dream to undo"):
        store.undo()
    store.learn([B])
    assert len(store.look().facts()) == 2


def test_what_waits_is_kept_or_dropped(tmp_path: Path) -> None:
    store = MemoryStore(tmp_path)
    store.wait([A, B])
    store.wait([C])
    assert list(store.waiting()) == [A, B, C]
    assert store.index() == ""
    assert list(store.settle(lambda number: number == 2, keep=True)) == [B]
    assert B.text in text(tmp_path)
    assert list(store.waiting()) == [A, C]
    assert list(store.settle(lambda _: True, keep=False)) == [A, C]
    assert not list(store.waiting())
    assert A.text not in text(tmp_path)
    store.wait([replace(A, text=f"Number {number} waits.") for number in range(40)])
    assert len(store.waiting()) == 30


def test_an_undo_is_exact_and_once(tmp_path: Path) -> None:
    store = MemoryStore(tmp_path)
    store.learn([A, B])
    (tmp_path / "mine.md").write_bytes(b"prose\r\nof mine, no end of line")
    before = files(tmp_path)
    dream(store)
    assert files(tmp_path) != before
    assert sorted(store.undo()) == sorted(before)
    assert files(tmp_path) == before
    with pytest.raises(MemoryFailure, match="no /dream to undo"):
        store.undo()


def test_what_was_learnt_after_a_dream_survives_its_undo(tmp_path: Path) -> None:
    store = MemoryStore(tmp_path)
    store.learn([A, B])
    before = files(tmp_path)
    dream(store)
    store.learn([C])
    store.undo()
    after = files(tmp_path)
    assert C.text in text(tmp_path)
    assert {name: data for name, data in after.items() if name in before and name != INDEX} == {
        name: data for name, data in before.items() if name != INDEX
    }
    assert after[INDEX] == before[INDEX] + f"{C.short}\n".encode()


def test_an_undo_writes_over_nobodys_edits(tmp_path: Path) -> None:
    store = MemoryStore(tmp_path)
    store.learn([A, B])
    dream(store)
    (tmp_path / INDEX).write_text("mine\n", encoding="utf-8")
    with pytest.raises(MemoryFailure, match=r"MEMORY\.md was edited after the dream"):
        store.undo()
    assert text(tmp_path) == "mine\n"


def test_a_proposal_counts_as_long_as_the_files_are_the_same(tmp_path: Path) -> None:
    store = MemoryStore(tmp_path)
    store.learn([A, B])
    before = files(tmp_path)
    store.propose(before, {INDEX: b"less\n"})
    assert files(tmp_path) == before
    found = store.proposal()
    assert found is not None
    assert found.after == {INDEX: b"less\n"}
    store.learn([C])
    assert store.proposal() is None


def test_the_person_edits_a_file_and_empties_one(tmp_path: Path) -> None:
    store = MemoryStore(tmp_path)
    store.learn([A, B])
    store.edit("cache.md", text(tmp_path, "cache.md"), "- shorter")
    assert text(tmp_path, "cache.md") == "- shorter\n"
    with pytest.raises(MemoryFailure, match="changed while you edited"):
        store.edit("cache.md", "other", "- lost")
    store.edit("cache.md", "- shorter\n", " \n")
    assert not (tmp_path / "cache.md").exists()
    assert text(tmp_path) == f"{A.short}\n"
    for name in ("../x.md", ".lock", "x/y.md"):
        with pytest.raises(MemoryFailure, match="no file of this memory"):
            store.edit(name, "", "x")


def test_a_place_that_cannot_be_used_is_said(tmp_path: Path) -> None:
    (tmp_path / "m").write_text("a file", encoding="utf-8")
    with pytest.raises(MemoryFailure, match="cannot be used"):
        MemoryStore(tmp_path / "m").learn([A])
    assert MemoryStore(tmp_path / "m").index() == ""
