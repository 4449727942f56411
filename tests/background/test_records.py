"""Records of background sessions: what is believed of one, and what is taken away."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from gatewright.agent.autonomy.running import ending
from gatewright.agent.autonomy.running.known_sessions import KEPT, find, live, look
from gatewright.agent.autonomy.running.launch import WORD
from gatewright.agent.autonomy.running.running_record import (
    CUT,
    UNLOCKED,
    Record,
    begin,
    read,
    seen,
    write,
)
from gatewright.agent.autonomy.running.socket_places import (
    LONGEST,
    log_file,
    record_file,
    records_folder,
    socket_path,
)
from gatewright.agent.errors import SessionError
from gatewright.tools.system.lifetimes import Lifetime, ours
from gatewright.tools.system.sweep import started_at

NOW = 1_800_000_000.0
ID = "01a1f864-970d-7c99-a50e-dee8049d9dac"


def record(home: Path, id: str = ID, process: Lifetime | None = None, **more: object) -> Record:
    us = process or ours()
    transcript = home / "projects" / "p" / f"{id}.jsonl"
    transcript.parent.mkdir(parents=True, exist_ok=True)
    transcript.write_text("{}\n", encoding="utf-8")
    made = Record(id=id, pid=us.pid, start=us.start, began=NOW, transcript=str(transcript))
    made = replace(made, changed=NOW, **more)
    write(record_file(home, id), made)
    return made


@contextmanager
def locked(path: str) -> Generator[None]:
    """As the session itself holds it."""
    with Path(path).open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="module")
def gone() -> Lifetime:
    """A process that was, and is no more."""
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    found = Lifetime(child.pid, started_at(child.pid))
    child.communicate(b"\n")
    assert not found.lives()
    return found


def test_what_its_lock_and_its_process_confirm_is_live(tmp_path: Path) -> None:
    made = record(tmp_path, state="needs you", ask="Run make?")
    later = NOW + 10 * UNLOCKED
    with locked(made.transcript):
        (found,) = look(tmp_path, later)
    assert found.live
    assert found.record == made


def test_one_that_begins_has_no_lock_yet(tmp_path: Path) -> None:
    record(tmp_path)
    assert live(tmp_path, NOW + UNLOCKED / 2)
    assert not live(tmp_path, NOW + UNLOCKED * 2)


def test_one_whose_process_is_gone_was_interrupted(tmp_path: Path, gone: Lifetime) -> None:
    record(tmp_path, process=gone, viewers=2, ask="Run make?")
    (found,) = look(tmp_path, NOW)
    assert not found.live
    assert (found.record.state, found.record.why) == ("interrupted", CUT)
    assert (found.record.viewers, found.record.ask) == (0, "")


def test_an_id_that_was_given_out_again_is_no_session(tmp_path: Path) -> None:
    us = ours()
    record(tmp_path, process=Lifetime(us.pid, f"{int(us.start or 1) - 1}"))
    assert not live(tmp_path, NOW)


def test_what_was_said_last_counts_whatever_lives(tmp_path: Path, gone: Lifetime) -> None:
    for process in (ours(), gone):
        record(tmp_path, process=process, state="stopped", ended=NOW)
        (found,) = look(tmp_path, NOW)
        assert (found.live, found.record.state) == (False, "stopped")


def test_a_last_word_between_two_looks_is_no_interruption(
    tmp_path: Path, gone: Lifetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lock is free and the process is asked for: there it says its last, and goes."""
    made, file = record(tmp_path), record_file(tmp_path, ID)

    def ends(self: Lifetime) -> bool:
        write(file, replace(made, state="stopped", ended=NOW))
        return False

    monkeypatch.setattr(Lifetime, "lives", ends)
    found = seen(file, NOW + 2 * UNLOCKED)
    assert found is not None
    assert (found.live, found.record.state) == (False, "stopped")


def test_a_session_that_goes_on_elsewhere_is_none_of_these(tmp_path: Path, gone: Lifetime) -> None:
    made = record(tmp_path, process=gone)
    log_file(tmp_path, ID).write_text("x", encoding="utf-8")
    with locked(made.transcript):
        assert look(tmp_path, NOW) == []
    assert list(records_folder(tmp_path).iterdir()) == []
    assert Path(made.transcript).exists()


def test_one_that_never_said_anything_is_forgotten(tmp_path: Path, gone: Lifetime) -> None:
    made = record(tmp_path, process=gone)
    Path(made.transcript).unlink()
    assert look(tmp_path, NOW) == []
    assert not record_file(tmp_path, ID).exists()


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"id": "other", "pid": 1}', '{"id": 7}', "[" * 20_000, "\xff"]
)
def test_what_means_nothing_is_taken_away(tmp_path: Path, text: str) -> None:
    file = record_file(tmp_path, ID)
    file.parent.mkdir(parents=True)
    file.write_text(text, encoding="utf-8")
    assert look(tmp_path, NOW) == []
    assert not file.exists()


def test_a_link_and_a_pipe_are_no_records(tmp_path: Path) -> None:
    made = record(tmp_path, "other")
    file = record_file(tmp_path, ID)
    elsewhere = tmp_path / f"{ID}.json"
    write(elsewhere, replace(made, id=ID))
    file.symlink_to(elsewhere)
    os.mkfifo(record_file(tmp_path, "fifo"))
    assert read(file) is None
    assert read(record_file(tmp_path, "fifo")) is None
    assert elsewhere.exists()


def test_who_starts_one_says_the_first_word_only(tmp_path: Path) -> None:
    made, file = record(tmp_path, state="idle"), record_file(tmp_path, ID)
    begin(file, replace(made, state="working"))
    assert read(file) == made
    file.unlink()
    begin(file, made)
    assert read(file) == made
    assert list(file.parent.iterdir()) == [file]


def test_old_ends_are_let_go(tmp_path: Path) -> None:
    for number in range(KEPT + 3):
        record(tmp_path, f"s{number:04d}", state="done", ended=NOW, began=NOW + number)
    record(tmp_path, "old", state="done", ended=1.0)
    write(record_file(tmp_path, "old"), record(tmp_path, "old2", ended=1.0))
    look(tmp_path, NOW)
    left = [each.record.id for each in look(tmp_path, NOW)]
    assert len(left) == KEPT
    assert "s0000" not in left


def test_which_one_a_person_means(tmp_path: Path) -> None:
    record(tmp_path, "01a1-aaaa", title="mend the roof", state="done", ended=NOW)
    record(tmp_path, "01a1-bbbb", title="paint the door", state="done", ended=NOW)
    assert find(tmp_path, "01a1-aaaa", NOW).record.id == "01a1-aaaa"
    assert find(tmp_path, "bbb", NOW).record.id == "01a1-bbbb"
    assert find(tmp_path, "ROOF", NOW).record.id == "01a1-aaaa"
    with pytest.raises(SessionError, match="2 background sessions are meant"):
        find(tmp_path, "01a1", NOW)
    with pytest.raises(SessionError, match="agent ps --all lists them"):
        find(tmp_path, "cellar", NOW)


@pytest.mark.parametrize("end", [ending.stop, ending.kill])
def test_a_forged_record_ends_nobody_elses_process(tmp_path: Path, end: object) -> None:
    """It names a real process, by its right start, whose conversation somebody holds."""
    victim = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        forged = record(tmp_path, process=Lifetime(victim.pid, started_at(victim.pid)))
        with locked(forged.transcript), pytest.raises(SessionError, match="is not session"):
            (ending.stop if end is ending.stop else ending.kill)(tmp_path, forged)
        assert victim.poll() is None
    finally:
        victim.communicate(b"\n")
    assert victim.returncode == 0


def test_killing_one_takes_away_a_socket_and_nothing_else(tmp_path: Path) -> None:
    """What a record names as its socket may be any file."""
    keep = tmp_path / "keep"
    keep.write_text("mine", encoding="utf-8")
    argv = [sys.executable, "-c", "input()", WORD]
    with subprocess.Popen(argv, stdin=subprocess.PIPE) as session:
        process = Lifetime(session.pid, started_at(session.pid))
        found = record(tmp_path, process=process, socket=str(keep))
        write(record_file(tmp_path, ID), replace(found, transcript="", began=time.time()))
        ending.kill(tmp_path, replace(found, transcript="", began=time.time()))
    assert session.returncode == -signal.SIGKILL
    assert keep.read_text(encoding="utf-8") == "mine"


def test_a_long_name_of_the_runtime_directory_is_no_place(tmp_path: Path) -> None:
    long = tmp_path / ("d" * 90)
    long.mkdir(mode=0o700)
    path = socket_path(ID, {"XDG_RUNTIME_DIR": str(long)})
    assert len(os.fsencode(path)) <= LONGEST
    assert str(path).startswith("/tmp/gatewright-")
