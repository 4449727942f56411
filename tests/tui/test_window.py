"""Which rows are visible: the window against a plain list of all rows."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gatewright.tui.transcript.window import (
    START,
    Place,
    at_end,
    bottom,
    clamp,
    move,
    parts,
)

Sizes = list[list[int]]
SIZES = st.lists(st.lists(st.integers(0, 5), max_size=4), max_size=8)
ROWS = st.integers(1, 12)


class Heights:
    """Content as nested lists of chunk heights."""

    def __init__(self, sizes: Sizes) -> None:
        self.sizes = sizes

    def items(self) -> int:
        return len(self.sizes)

    def chunks(self, item: int) -> int:
        return len(self.sizes[item])

    def height(self, item: int, chunk: int) -> int:
        return self.sizes[item][chunk] if chunk < len(self.sizes[item]) else 0

    def all_rows(self) -> list[Place]:
        return [
            Place(item, chunk, row)
            for item, chunks in enumerate(self.sizes)
            for chunk, size in enumerate(chunks)
            for row in range(size)
        ]


def visible(content: Heights, place: Place, rows: int) -> list[Place]:
    return [
        Place(part.item, part.chunk, row)
        for part in parts(content, place, rows)
        for row in range(part.first, part.last)
    ]


@given(SIZES, ROWS)
def test_the_bottom_shows_the_last_rows(sizes: Sizes, rows: int) -> None:
    content = Heights(sizes)
    assert visible(content, bottom(content, rows), rows) == content.all_rows()[-rows:]


@given(SIZES, ROWS, st.data())
def test_any_place_shows_what_follows_it(sizes: Sizes, rows: int, data: st.DataObject) -> None:
    content = Heights(sizes)
    everything = content.all_rows()
    if not everything:
        assert visible(content, START, rows) == []
        return
    index = data.draw(st.integers(0, len(everything) - 1))
    assert visible(content, everything[index], rows) == everything[index : index + rows]


@given(SIZES, st.data(), st.integers(-30, 30))
def test_moving_counts_rows(sizes: Sizes, data: st.DataObject, delta: int) -> None:
    content = Heights(sizes)
    everything = content.all_rows()
    if not everything:
        return
    index = data.draw(st.integers(0, len(everything) - 1))
    there = move(content, everything[index], delta)
    wanted = min(max(index + delta, 0), len(everything) - 1)
    assert visible(content, there, 1) == [everything[wanted]]


@given(SIZES, SIZES, st.data())
def test_a_place_survives_any_change_of_the_content(
    before: Sizes, after: Sizes, data: st.DataObject
) -> None:
    everything = Heights(before).all_rows() or [START]
    place = data.draw(st.sampled_from(everything))
    content = Heights(after)
    clamped = clamp(content, place)
    assert clamp(content, clamped) == clamped
    last = content.all_rows()[-1:]
    assert visible(content, place, 1) or not last or clamped > last[0]


@given(SIZES, ROWS)
def test_the_end_is_recognised(sizes: Sizes, rows: int) -> None:
    content = Heights(sizes)
    assert at_end(content, bottom(content, rows), rows)
    everything = content.all_rows()
    if len(everything) > rows:
        assert not at_end(content, everything[0], rows)
