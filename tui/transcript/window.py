"""Which rows are visible, as pure functions over heights.

The view either follows the end or is detached at one row of one chunk of one record. Only what is
near the visible part is ever measured, so a long session costs what a short one does.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol


class Place(NamedTuple):
    """The first visible row. Places compare in reading order."""

    item: int
    chunk: int
    row: int


class Part(NamedTuple):
    """Rows `first` to `last` (exclusive) of one chunk are visible."""

    item: int
    chunk: int
    first: int
    last: int


class Content(Protocol):
    """Records made of chunks, made of rows; a chunk may have no rows, a record no chunks."""

    def items(self) -> int: ...
    def chunks(self, item: int) -> int: ...
    def height(self, item: int, chunk: int) -> int: ...


START = Place(0, 0, 0)


def _before(content: Content, place: Place) -> Place | None:
    """The chunk above, as the place of its first row."""
    item, chunk = place.item, place.chunk - 1
    while chunk < 0:
        item -= 1
        if item < 0:
            return None
        chunk = content.chunks(item) - 1
    return Place(item, chunk, 0)


def _after(content: Content, place: Place) -> Place | None:
    item, chunk = place.item, place.chunk + 1
    while item < content.items():
        if chunk < content.chunks(item):
            return Place(item, chunk, 0)
        item, chunk = item + 1, 0
    return None


def bottom(content: Content, rows: int) -> Place:
    """The place that shows the last row at the lower edge."""
    return _up(content, Place(content.items(), 0, 0), rows)


def _up(content: Content, place: Place, rows: int) -> Place:
    left = rows - place.row
    if left <= 0:
        return place._replace(row=-left)
    here = place._replace(row=0)
    while left > 0 and (above := _before(content, here)) is not None:
        here = above
        left -= content.height(here.item, here.chunk)
    return here._replace(row=max(0, -left)) if here.item < content.items() else START


def _down(content: Content, place: Place, rows: int) -> Place:
    here, row = place, place.row + rows
    last = place
    while row >= (size := content.height(here.item, here.chunk)):
        if size:
            last = here._replace(row=size - 1)
        below = _after(content, here)
        if below is None:
            return last
        row -= size
        here = below
    return here._replace(row=row)


def move(content: Content, place: Place, delta: int) -> Place:
    """The place some rows further down (or up), within the content."""
    if not content.items():
        return START
    place = clamp(content, place)
    if delta < 0:
        return _up(content, place, -delta)
    return _down(content, place, delta)


def parts(content: Content, place: Place, rows: int) -> list[Part]:
    """What is visible from a place downwards."""
    found: list[Part] = []
    here: Place | None = clamp(content, place)
    left = rows
    while left > 0 and here is not None and content.items():
        if here.chunk < content.chunks(here.item):
            last = min(content.height(here.item, here.chunk), here.row + left)
            if last > here.row:
                found.append(Part(here.item, here.chunk, here.row, last))
                left -= last - here.row
        here = _after(content, here)
    return found


def at_end(content: Content, place: Place, rows: int) -> bool:
    """Whether the last row is visible from this place."""
    return place >= bottom(content, rows)


def clamp(content: Content, place: Place) -> Place:
    """The nearest existing place: chunks may have shrunk or gone since it was taken."""
    count = content.items()
    if not count:
        return START
    if place.item >= count:
        place = Place(count - 1, max(0, content.chunks(count - 1) - 1), 0)
    if place.chunk >= content.chunks(place.item):
        place = Place(place.item, max(0, content.chunks(place.item) - 1), 0)
    if not content.chunks(place.item):
        return place._replace(chunk=0, row=0)
    size = content.height(place.item, place.chunk)
    return place._replace(row=max(0, min(place.row, size - 1)))
