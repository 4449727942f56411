"""Cutting Markdown while it streams."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gatewright.tui.blocks.pieces import CODE_ROWS, Cutter, Piece, pieces

ROWS = [
    "",
    "text",
    "# head",
    "- a",
    "  more",
    "1. one",
    "```py",
    "```",
    "    deep",
    "> q",
    "~~~",
    "x = 1",
]
TEXTS = st.lists(st.sampled_from(ROWS), max_size=30).map("\n".join)


@given(TEXTS, st.lists(st.integers(1, 7), max_size=40))
def test_any_chunking_gives_the_same_pieces(text: str, sizes: list[int]) -> None:
    cutter = Cutter()
    frozen: list[Piece] = []
    at = 0
    for size in sizes:
        frozen += cutter.feed(text[at : at + size])
        cutter.live()
        at += size
    frozen += cutter.feed(text[at:])
    assert [*frozen, *cutter.live()] == pieces(text)


@given(TEXTS)
def test_no_line_of_text_is_lost(text: str) -> None:
    kept = "\n".join(piece.text for piece in pieces(text))
    for row in ("text", "# head", "x = 1"):
        assert kept.count(row) == text.count(row)


def test_paragraphs_are_cut_at_blank_lines() -> None:
    assert [p.text for p in pieces("one\ntwo\n\nthree\n")] == ["one\ntwo", "three"]


def test_a_loose_list_stays_whole() -> None:
    text = "1. one\n\n   more\n\n2. two"
    assert [p.text for p in pieces(text)] == [text]
    assert [p.text for p in pieces(f"{text}\n\nafter")] == [text, "after"]


def test_a_fence_in_a_list_stays_in_it() -> None:
    text = "- a\n  ```py\n  x\n\n  y\n  ```\n- b"
    assert [p.text for p in pieces(text)] == [text]


def test_a_fence_is_code_with_its_language() -> None:
    assert pieces("a\n```py\nx = 1\n```\nb") == [
        Piece("markdown", "a"),
        Piece("code", "x = 1", "python"),
        Piece("markdown", "b"),
    ]


def test_an_open_fence_is_code_already() -> None:
    cutter = Cutter()
    assert cutter.feed("```py\nx = ") == []
    assert cutter.live() == [Piece("code", "x = ", "python")]


def test_a_long_fence_freezes_in_steps_and_keeps_its_colours() -> None:
    rows = ['"""doc', *["inside"] * CODE_ROWS, '"""', "x = 1"]
    cutter = Cutter()
    frozen = cutter.feed("```py\n" + "\n".join(rows) + "\n")
    assert len(frozen) == 1
    assert not frozen[0].joined
    (live,) = cutter.live()
    assert (live.joined, live.state) == (True, '"""')


def test_a_fence_marker_is_not_flashed_as_text() -> None:
    cutter = Cutter()
    cutter.feed("text\n``")
    assert cutter.feed("`") == []
    assert cutter.live() == [Piece("markdown", "text")]
