"""What a server sends is cut, read and placed rightly, and costs no more than it is worth."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatewright.agent.lsp.wire.frames import BadFrame, Frames, framed
from gatewright.agent.lsp.wire.positions import Lines, edited, path_of, uri_of
from gatewright.agent.lsp.wire.shapes import Position, Range


@given(st.lists(st.binary(min_size=1, max_size=300), max_size=6), st.integers(1, 50))
def test_messages_come_out_however_they_are_cut(messages: list[bytes], size: int) -> None:
    stream = b"".join(map(framed, messages))
    frames, found = Frames(most=200), list[bytes]()
    for at in range(0, len(stream), size):
        found += frames.feed(stream[at : at + size])
    assert found == [each for each in messages if len(each) <= 200]
    assert frames.skipped == sum(len(each) > 200 for each in messages)


@pytest.mark.parametrize(
    "junk",
    [
        b"npm WARN\r\n\r\n", b"x" * 9000, b"Content-Length: -5\r\n\r\n{}", b"\r\n\r\n",
        b"Content-Length: 99999999999\r\n\r\n", b"Content-Type: a\r\n\r\n",
        b"Content-Length: " * 999,
    ],
)  # fmt: skip
def test_what_is_no_header_ends_it(junk: bytes) -> None:
    frames = Frames()
    with pytest.raises(BadFrame):
        for at in range(0, len(junk), 7):
            assert list(frames.feed(junk[at : at + 7])) == []
        list(frames.feed(b"\r\n\r\n"))


def test_other_headers_and_other_spellings_are_fine() -> None:
    head = b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\ncontent-length:2\r\n\r\n"
    assert list(Frames().feed(head + b"{}")) == [b"{}"]


def test_fifty_megabytes_are_skipped_in_linear_time_and_no_memory() -> None:
    frames, before = Frames(), time.process_time()
    frames_in = [b"Content-Length: %d\r\n\r\n" % (50 << 20), *[b"x" * 65536] * 800, framed(b"{}")]
    assert [each for chunk in frames_in for each in frames.feed(chunk)] == [b"{}"]
    assert frames.skipped == 1 and time.process_time() - before < 1.0


@given(st.text(max_size=60), st.sampled_from(["utf-8", "utf-16", "utf-32"]))
def test_columns_go_there_and_back(text: str, encoding: str) -> None:
    line = Lines(text, encoding).line(0)
    lines = Lines(line, encoding)
    for column in range(len(line) + 1):
        assert lines.column(0, lines.units(0, column)) == column
    assert lines.column(0, 10_000) == len(line) and lines.line(99) == ""


def test_lines_end_as_the_protocol_says_and_nowhere_else() -> None:
    lines = Lines("a\r\nb\rc\nd\u2028e", "utf-16")
    assert [lines.line(n) for n in range(lines.count)] == ["a", "b", "c", "d\u2028e"]
    place = Range(Position(3, 2), Position(3, 3))
    start, end = lines.span(place)
    assert lines.text[start:end] == "e"


def test_changes_are_made_at_their_places_or_not_at_all() -> None:
    assert edited("abcd", [(3, 4, "D"), (0, 1, "A"), (1, 1, "!")]) == "A!bcD"
    for wrong in ([(0, 2, "x"), (1, 3, "y")], [(2, 1, "x")]):
        with pytest.raises(ValueError, match="overlap"):
            edited("abcd", wrong)


def test_addresses_are_paths_of_this_machine_or_nothing() -> None:
    for path in ("/a b/\u00e9#?%.py", "/x:y"):
        assert path_of(uri_of(path)) == path
    for uri in ("http://a/b", "file://host/a", "file:a", "untitled:1", "file:///a%00b", "file://["):
        assert path_of(uri) == ""
