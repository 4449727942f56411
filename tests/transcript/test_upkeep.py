"""Repair, delete, retention, search, export and import work on files as they are found."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from gatewright.agent.errors import SessionError
from gatewright.agent.record.events import AssistantMessage, TitleChanged, ToolFinished, UserMessage
from gatewright.agent.text.redact import MARK, Redactor
from gatewright.agent.transcript.export import export
from gatewright.agent.transcript.importers import import_claude
from gatewright.agent.transcript.reader import branch_of, read_transcript
from gatewright.agent.transcript.search import search
from gatewright.agent.transcript.upkeep import DAY, delete, let_go, repair
from gatewright.agent.transcript.writer import TranscriptLock
from tests.transcript.stored import answer, chained, started, turn, user, write

KEY = "sk-" + "ant-" + "a1b2" * 8


def test_repair_drops_what_is_broken_and_keeps_the_original(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", chained([started(), *turn(1), *turn(2)]))
    lines = path.read_bytes().splitlines(keepends=True)
    lines[4] = b"garbage\n"
    path.write_bytes(b"".join(lines) + b'{"torn')
    before = path.read_bytes()
    done = repair(path)
    assert (done.kept, done.dropped, done.rejoined) == (12, 2, 1)
    assert done.backup is not None
    assert done.backup.read_bytes() == before
    stored = read_transcript(path)
    assert (len(stored.branch), stored.skipped, stored.torn) == (12, 0, False)
    assert repair(path).backup is None


def test_repair_without_a_header(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", chained([started(), *turn(1)]))
    path.write_bytes(path.read_bytes().split(b"\n", 1)[1])
    repair(path)
    assert len(read_transcript(path).branch) == 7


def test_delete_takes_everything_and_nothing_in_use(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", chained([started(), *turn(1)]))
    (tmp_path / "s" / "spill").mkdir(parents=True)
    (tmp_path / "s.torn").write_text("x", encoding="utf-8")
    (tmp_path / "other.jsonl").write_text("x", encoding="utf-8")
    lock = TranscriptLock()
    lock.take(path)
    with pytest.raises(SessionError, match="another process"):
        delete(path)
    lock.release()
    delete(path)
    assert [item.name for item in tmp_path.iterdir()] == ["other.jsonl"]
    with pytest.raises(SessionError):
        delete(path)


def test_retention_lets_go_of_what_is_old(tmp_path: Path) -> None:
    folder = tmp_path / "projects" / "-w"
    for name, age in (("old", 31), ("new", 29), ("used", 40)):
        path = write(folder / f"{name}.jsonl", chained([started(), *turn(1)]))
        os.utime(path, (1e9 - age * DAY, 1e9 - age * DAY))
    lock = TranscriptLock()
    lock.take(folder / "used.jsonl")
    assert let_go(tmp_path, days=0, now=1e9) == []
    assert [path.stem for path in let_go(tmp_path, days=30, now=1e9)] == ["old"]
    assert sorted(path.stem for path in folder.iterdir()) == ["new", "used"]
    lock.release()


def test_search_follows_the_files(tmp_path: Path) -> None:
    folder = tmp_path / "projects" / "-w"
    one = write(
        folder / "one.jsonl", chained([started(), user("Größe of the parser"), answer("ok")])
    )
    write(folder / "two.jsonl", chained([started(), user("unrelated"), answer("The PARSERS fail")]))
    assert {hit.session for hit in search(tmp_path, "parser")} == {"one", "two"}
    assert [hit.session for hit in search(tmp_path, "grosse parser")] == []
    assert [(hit.session, hit.who) for hit in search(tmp_path, "größe")] == [("one", "you")]
    write(folder / "one.jsonl", chained([started(), user("Größe of the parser"), answer("lexer")]))
    with one.open("ab") as file:
        extra = write(tmp_path / "x.jsonl", chained([user("appended later")], after="u2"))
        file.write(extra.read_bytes().split(b"\n", 1)[1])
    assert len(search(tmp_path, "appended")) == 1
    assert len(search(tmp_path, "parser")) == 2
    one.unlink()
    assert [hit.session for hit in search(tmp_path, "parser")] == ["two"]
    index = tmp_path / "state" / "search.sqlite"
    index.write_bytes(b"this is no database" * 1000)
    assert [hit.session for hit in search(tmp_path, "parser")] == ["two"]
    assert search(tmp_path, '"; drop table said --') == []
    assert search(tmp_path, "  ") == []


@pytest.mark.parametrize("format", ["md", "html", "json"])
def test_export_says_everything_but_secrets(tmp_path: Path, format: str) -> None:
    events = [started(), user(f"use {KEY} <b>"), *turn(1, output="a ``` b\n" + KEY)]
    path = write(tmp_path / "s.jsonl", chained(events))
    header = read_transcript(path).header
    text = "".join(export(header, branch_of(path), format, Redactor({})))  # type: ignore[arg-type]  # pyright: ignore
    assert KEY not in text
    assert text.count(MARK) >= 2
    assert "answer 1" in text
    assert "a ``` b" in text
    match format:
        case "json":
            assert len(json.loads(text)["events"]) == len(events)
        case "md":
            assert "> use [redacted] <b>" in text
            assert "````" in text
        case _:
            assert "&lt;b&gt;" in text
            assert "<b>" not in text


def claude(type: str, uuid: str, parent: str | None, message: object, **more: object) -> str:
    record = {
        "type": type, "uuid": uuid, "parentUuid": parent, "sessionId": "cc-1", "cwd": "/w/app",
        "timestamp": "2025-06-01T10:00:00.000Z", "message": message, **more,
    }  # fmt: skip
    return json.dumps(record) + "\n"


def test_a_claude_code_session_is_gone_on_with(tmp_path: Path) -> None:
    call = {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "/w/a"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "text", "is_error": False}
    said = {"role": "assistant", "id": "m1", "model": "opus", "usage": {"input_tokens": 5}}
    source = tmp_path / "cc-1.jsonl"
    source.write_text(
        json.dumps({"type": "summary", "summary": "Fix it", "leafUuid": "4"}) + "\n"
        + claude("user", "1", None, {"role": "user", "content": "please fix"})
        + claude("user", "x", "1", {"role": "user", "content": "abandoned"})
        + claude("assistant", "2", "1", {**said, "content": [{"type": "text", "text": "I look."}]})
        + claude("assistant", "3", "2", {**said, "content": [call]})
        + claude("user", "4", "3", {"role": "user", "content": [result]})
        + claude("assistant", "s", "4", said, isSidechain=True)
        + "torn {",
        encoding="utf-8",
    )  # fmt: skip
    path = import_claude(source, tmp_path / "home")
    assert path == tmp_path / "home" / "projects" / "-w-app" / "cc-1.jsonl"
    events = [envelope.event for envelope in read_transcript(path).branch]
    assert events[0] == TitleChanged(title="Fix it")
    assert [type(event) for event in events[1:4]] == [
        UserMessage,
        AssistantMessage,
        AssistantMessage,
    ]
    assert isinstance(events[-1], ToolFinished)
    with pytest.raises(SessionError, match="before"):
        import_claude(source, tmp_path / "home")
    source.write_text("nothing\n", encoding="utf-8")
    with pytest.raises(SessionError, match="no conversation"):
        import_claude(source, tmp_path / "home")
