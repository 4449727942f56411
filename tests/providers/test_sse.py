from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatewright.agent.providers.streams import sse
from gatewright.agent.providers.streams.sse import EventTooLong, Sse, SseReader

STREAM = (
    b"\xef\xbb\xbfevent: one\ndata: {}\n\n"
    b": a comment\r\nid: 4\r\nevent: two\r\ndata:first\r\ndata: second\r\n\r\n"
    b"retry: 10\r\rdata: gr\xc3\xbc\xc3\x9fe \xf0\x9f\x8e\x89\r\r"
    b"event: nothing\n\n"
    b"data\n\n"
)
EVENTS = [
    Sse("one", b"{}"),
    Sse("two", b"first\nsecond"),
    Sse("", "grüße 🎉".encode()),
    Sse("", b""),
]


def read(chunks: list[bytes]) -> list[Sse]:
    reader = SseReader()
    found = [event for chunk in chunks for event in reader.feed(chunk)]
    return [*found, *reader.end()]


def test_the_whole_format() -> None:
    assert read([STREAM]) == EVENTS


def test_byte_by_byte() -> None:
    assert read([STREAM[i : i + 1] for i in range(len(STREAM))]) == EVENTS


@given(cuts=st.lists(st.integers(0, len(STREAM)), max_size=20))
def test_any_cut_gives_the_same_events(cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(STREAM)]
    pieces = [STREAM[a:b] for a, b in itertools.pairwise(edges)]
    assert read(pieces) == EVENTS


def test_an_unfinished_last_event_is_given_at_the_end() -> None:
    assert read([b"data: a\n\ndata: b"]) == [Sse("", b"a"), Sse("", b"b")]
    assert read([b"data: a\n\n", b"data: b\n"]) == [Sse("", b"a"), Sse("", b"b")]


def test_an_endless_line_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "_LIMIT", 100)
    reader = SseReader()
    with pytest.raises(EventTooLong):
        for _ in range(20):
            list(reader.feed(b"x" * 10))
