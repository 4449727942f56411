"""Reading backwards gives the branch that reading everything would, and never more of the file."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatewright.agent.record.events import AnyEvent, Cleared, Compacted, Rewound, TitleChanged
from gatewright.agent.record.events_of_past import Carried
from gatewright.agent.record.session_state import Standing
from gatewright.agent.transcript.backwards import BLOCK, lines_backwards
from gatewright.agent.transcript.reader import branch_of, read_transcript
from tests.transcript.stored import chained, started, turn, user, write

LINES = st.lists(st.binary(max_size=30).map(lambda data: data.replace(b"\n", b".")), max_size=20)


@given(LINES, st.sampled_from([b"", b"torn"]), st.integers(0, 3))
def test_lines_come_backwards(lines: list[bytes], tail: bytes, long: int) -> None:
    if long and lines:
        lines[len(lines) // 2] = b"x" * (BLOCK * long + long)
    data = b"".join(line + b"\n" for line in lines) + tail
    file = os.memfd_create("lines")
    try:
        os.write(file, data)
        found = list(lines_backwards(file, len(data)))
    finally:
        os.close(file)
    assert [line for _, line in found] == [tail, *reversed(lines)] if data else [b""]
    assert all(data[place : place + len(line)] == line for place, line in found)


def events_of(path: Path, **how: object) -> list[AnyEvent]:
    return [e.event for e in read_transcript(path, **how).branch]  # type: ignore[arg-type]  # pyright: ignore


@pytest.mark.parametrize(
    "boundary", [Cleared(), Compacted(summary="s", trigger="t", tokens_before=1)]
)
def test_reading_ends_at_the_last_boundary(tmp_path: Path, boundary: AnyEvent) -> None:
    events = [started(), *turn(1), Cleared(), *turn(2), boundary, *turn(3)]
    path = write(tmp_path / "s.jsonl", chained(events))
    assert events_of(path) == [boundary, *turn(3)]
    assert read_transcript(path).more
    assert events_of(path, whole=True) == events
    assert [envelope.event for envelope in branch_of(path)] == events
    assert events_of(path, to="u9") == [Cleared(), *turn(2)[:2]]


def test_a_rewound_branch_is_followed_to_its_parent(tmp_path: Path) -> None:
    first = list(chained([started(), *turn(1), *turn(2)]))
    back = list(chained([Rewound(to="u6", left="u12"), *turn(3)], after="u6", prefix="b"))
    path = write(tmp_path / "s.jsonl", [*first, *back])
    assert events_of(path) == [started(), *turn(1), Rewound(to="u6", left="u12"), *turn(3)]
    assert events_of(path, to="u12") == [started(), *turn(1), *turn(2)]


def test_a_lost_parent_costs_only_its_record(tmp_path: Path) -> None:
    events = [started(), *turn(1), *turn(2)]
    path = write(tmp_path / "s.jsonl", chained(events))
    lines = path.read_bytes().splitlines(keepends=True)
    lines[5] = b"\x00\xff{" + b"\n"
    path.write_bytes(b"".join(lines))
    stored = read_transcript(path)
    assert [envelope.event for envelope in stored.branch] == events[:4] + events[5:]
    assert stored.skipped == 1


def test_what_a_session_is_survives_its_boundaries(tmp_path: Path) -> None:
    live = Standing()
    kept: list[AnyEvent] = []
    for event in [
        started(), *turn(1), TitleChanged(title="T"), Cleared(), *turn(2),
        Compacted(summary="s", trigger="t", tokens_before=1, cost=0.5), *turn(3),
    ]:  # fmt: skip
        stamped = live.stamped(event)
        live.apply(stamped)
        kept.append(stamped)
    path = write(tmp_path / "s.jsonl", chained(kept))
    stored = Standing.after(envelope.event for envelope in read_transcript(path).branch)
    assert stored.now == live.now
    assert stored.now == msgspec.structs.replace(
        Carried(mode="default", model="m", title="T", cost=0.5, turns=3),
        usage=live.now.usage,
        files=("/w/2.py", "/w/3.py"),
    )
    assert live.now.usage.input == 300


def test_a_first_prompt_beyond_the_head_is_listed_all_the_same(tmp_path: Path) -> None:
    from gatewright.agent.transcript.index import list_everywhere, list_sessions

    folder = tmp_path / "projects" / "-w"
    long = [started(), user('say "hi" ' + "x" * 200_000), *turn(1)]
    write(folder / "s.jsonl", chained(long))
    (listed,) = list_sessions(folder)
    assert listed.title.startswith('say "hi" xxx')
    assert listed.branch == "main"
    assert [item.id for item in list_everywhere(tmp_path, limit=1)] == ["s"]
