"""Sessions that are known are read again only where their file is another one."""

from __future__ import annotations

import os
from pathlib import Path

from gatewright.agent.record.events import AnyEvent, TitleChanged
from gatewright.agent.transcript.index import Listed, list_sessions
from tests.transcript.stored import chained, started, user, write


def test_only_what_changed_is_read_again(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write(tmp_path / f"{name}.jsonl", chained([started(), user(f"prompt {name}")]))
    known: dict[Path, Listed] = {}
    first = {each.id: each for each in list_sessions(tmp_path, known=known)}
    again = {each.id: each for each in list_sessions(tmp_path, known=known)}
    assert all(again[id] is first[id] for id in ("one", "two"))
    events: list[AnyEvent] = [started(), user("prompt two"), TitleChanged(title="Another")]
    write(tmp_path / "two.jsonl", chained(events))
    os.utime(tmp_path / "two.jsonl", (2e9, 2e9))
    newest, other = list_sessions(tmp_path, known=known)
    assert (newest.id, newest.title) == ("two", "Another")
    assert other is first["one"]
    (tmp_path / "one.jsonl").unlink()
    assert [each.id for each in list_sessions(tmp_path, known=known)] == ["two"]
