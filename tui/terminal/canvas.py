"""What stands on the terminal, cell by cell as it was written: only what changes is written again.

A row is written from its first cell that is another one. Where the terminal's idea of a width may
differ from ours, behind anything beyond ASCII, nothing is left standing: the rest of the row is
written too. Rows that moved are moved by the terminal. Nothing is assumed of what is not known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias, cast

from rich.color import ColorSystem
from rich.console import Console, RenderableType
from textual._compositor import ChopsUpdate, CompositorUpdate, LayoutUpdate
from textual.strip import Strip

from gatewright.tui.terminal.pen import Ink, Pen, Row

FEW = 4  # rows that changed, below which none is looked for that only moved
ERASED = 6  # blanks at the end of a row from which erasing is shorter
PAIRS = 4000  # rows that are the same as others and are compared at most
NO_WRAP, WRAP = "\x1b[?7l", "\x1b[?7h"

# Where a part of a row begins and ends, and what it is.
Piece: TypeAlias = tuple[int, int, Strip]


# Names of terminals that erase with the background that is set, by how they begin.
ERASING = (
    *("xterm", "tmux", "foot", "alacritty", "vte", "gnome", "konsole", "iterm"),
    *("rxvt", "linux", "wezterm", "ghostty", "contour", "st-"),
)


def erases(env: Mapping[str, str]) -> bool:
    """Whether this terminal is known to; GNU screen does not, whatever name it goes by."""
    return env.get("TERM", "").startswith(ERASING) and "STY" not in env


class Canvas:
    """`erases`: the terminal erases with the background that is set."""

    def __init__(self, *, erases: bool) -> None:
        self._erases = erases
        self._size = (0, 0)
        self._strips: list[Strip | None] = []  # None: not known
        self._rows: list[Row | None] = []
        self._pen = Pen()

    def forget(self) -> None:
        """Anything may stand there now."""
        self._size = (0, 0)

    def over(self, renderable: RenderableType) -> RenderableType:
        """What is to be written of it, once it is."""
        if isinstance(renderable, LayoutUpdate | ChopsUpdate):
            return cast("RenderableType", _Changed(self, renderable))
        self.forget()
        return renderable

    def paint(self, update: LayoutUpdate | ChopsUpdate, console: Console) -> str:
        """The sequences for this update; from then on it is what stands there."""
        size, rows = _rows_of(update)
        if size != self._size:
            self._size = size
            self._strips, self._rows = [None] * size[1], [None] * size[1]
        pen = self._pen
        pen.begin(console._color_system or ColorSystem.TRUECOLOR)  # pyright: ignore[reportPrivateUsage]
        new: dict[int, Row] = {}
        for y, pieces in rows:
            strip = self._whole(y, pieces)
            if strip is None:
                self._strips[y] = self._rows[y] = None
                for x, _end, part in pieces:
                    pen.move(x, y)
                    pen.row(pen.runs(part))
            elif strip is not self._strips[y]:
                row, self._strips[y] = pen.runs(strip), strip
                if row != self._rows[y]:
                    new[y] = row
        if len(new) >= FEW:
            self._scroll(new)
        for y, row in new.items():
            self._write(y, row)
        written = pen.end()
        if written and not written.isascii():
            return f"{NO_WRAP}{written}{WRAP}"  # a wider letter must not reach into the next row
        return written

    def _whole(self, y: int, pieces: Sequence[Piece]) -> Strip | None:
        """The row as it will be; None where that is not known."""
        width, parts, at = self._size[0], list[Strip](), 0
        before = self._strips[y]
        for x, end, part in pieces:
            if part.cell_length != end - x:
                return None
            if x > at:
                if before is None:
                    return None
                parts.append(before.crop(at, x))
            parts.append(part)
            at = end
        if at < width:
            if before is None:
                return None
            parts.append(before.crop(at, width))
        whole = parts[0] if len(parts) == 1 else Strip.join(parts)
        return whole if whole.cell_length == width else None

    def _write(self, y: int, row: Row) -> None:
        """The row, as far as it is another one than stands there."""
        width, before = self._size[0], self._rows[y]
        self._rows[y] = row
        if row == before:
            return
        first, last = (0, width) if before is None else _differing(before, row, width)
        if last < width:
            self._pen.move(first, y)
            self._pen.row(_cut(row, first, last))
            return
        shown = _cut(row, first)
        text, look = shown[-1]
        bare = text.rstrip(" ")
        blanks = len(text) - len(bare)
        self._pen.move(first, y)
        if blanks >= ERASED and self._pen.erases(look, whole=self._erases):
            self._pen.row((*shown[:-1], (bare, look)))
            self._pen.erase(look)
        else:
            self._pen.row(shown)

    def _scroll(self, new: dict[int, Row]) -> None:
        """Let the terminal move what only moved, where that leaves fewer rows to write."""
        top, bottom = min(new), max(new)
        by, first, last = _moved(self._rows, new, top, bottom)
        if not by:
            return
        top, bottom = min(first, first + by), max(last, last + by)
        blank: list[Row | None] = [None] * abs(by)
        rows = self._rows[top : bottom + 1]
        rows = [*rows[by:], *blank] if by > 0 else [*blank, *rows[:by]]
        here = range(top, bottom + 1)
        wanted = [new.get(y, self._rows[y]) for y in here]
        stays = sum(row != self._rows[y] for y, row in zip(here, wanted, strict=True))
        moves = sum(row != other for row, other in zip(wanted, rows, strict=True))
        if 1 + moves * 3 // 2 >= stays or None in wanted:
            return
        self._pen.scroll(top, bottom, by, wanted[-1 if by > 0 else 0])
        self._rows[top : bottom + 1] = rows
        new.update((y, row) for y, row in zip(here, wanted, strict=True) if row is not None)


class _Changed(CompositorUpdate):
    def __init__(self, canvas: Canvas, update: LayoutUpdate | ChopsUpdate) -> None:
        self._canvas, self._update = canvas, update

    def render_segments(self, console: Console) -> str:
        return self._canvas.paint(self._update, console)


def _rows_of(
    update: LayoutUpdate | ChopsUpdate,
) -> tuple[tuple[int, int], Iterator[tuple[int, Sequence[Piece]]]]:
    """The size of the screen, and the parts of each row that are to be written."""
    if isinstance(update, LayoutUpdate):
        region = update.region
        return (region.right, region.bottom), _laid_out(update)
    ends = update.chop_ends
    return (max((row[-1] for row in ends if row), default=0), len(ends)), _chopped(update)


def _laid_out(update: LayoutUpdate) -> Iterator[tuple[int, Sequence[Piece]]]:
    for y, strips in enumerate(update.strips, update.region.y):
        pieces: list[Piece] = []
        x = update.region.x
        for strip in strips:
            pieces.append((x, x + strip.cell_length, strip))
            x += strip.cell_length
        yield y, pieces


def _chopped(update: ChopsUpdate) -> Iterator[tuple[int, Sequence[Piece]]]:
    """As the framework writes them: a part that reaches into a span is written from its start."""
    found: dict[int, dict[int, Piece]] = {}
    for y, first, last in update.spans:
        pieces = found.setdefault(y, {})
        for end, (x, strip) in zip(update.chop_ends[y], update.chops[y].items(), strict=False):
            if strip is None or x > last or end <= first:
                continue
            if end > last:
                end = last
                strip = strip.crop(0, last - x)
            if end > x:
                pieces[x] = (x, end, strip)
    for y, pieces in found.items():
        if pieces:
            yield y, [pieces[x] for x in sorted(pieces)]


def _differing(before: Row, row: Row, width: int) -> tuple[int, int]:
    """The cells that are other ones: from where, up to where."""
    first, at, same = 0, 0, 0
    for (text, look), (other, another) in zip(before, row, strict=False):
        if look != another or not text.isascii() or not other.isascii():
            break
        if text != other:
            same = _common(text, other)
            break
        first += len(text)
        at += 1
    rest, others = before[at:], row[at:]
    if not all(text.isascii() for text, _ in (*rest, *others)):
        return max(0, first + same - 1), width  # a mark may belong to the cell before
    last = width
    for (text, look), (other, another) in zip(reversed(rest), reversed(others), strict=False):
        if look != another:
            break
        if text != other:
            last -= _common(text[::-1], other[::-1])
            break
        last -= len(text)
    return first + same, max(last, first + same)


def _common(one: str, other: str) -> int:
    """How many letters both begin with."""
    most = min(len(one), len(other))
    if one[:most] == other[:most]:
        return most
    low = 0
    while most - low > 1:
        middle = (low + most) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            most = middle
    return low


def _cut(row: Row, first: int, last: int | None = None) -> Row:
    """The cells of a row from there on; whatever is cut through is ASCII."""
    out: list[tuple[str, Ink]] = []
    at = 0
    for text, look in row:
        if last is not None and at >= last:
            break
        size = len(text)
        if at + size > first or not text.isascii():
            start = max(0, first - at)
            stop = size if last is None else min(size, last - at)
            out.append((text[start:stop], look))
        at += size
    return tuple(out)


def _moved(
    rows: Sequence[Row | None], new: Mapping[int, Row], top: int, bottom: int
) -> tuple[int, int, int]:
    """By how many rows most of the new ones were further down before, and which those are."""
    places: dict[Row, list[int]] = {}
    for y in range(top, bottom + 1):
        if (row := rows[y]) is not None and len(row) > 1:  # not a blank one
            places.setdefault(row, []).append(y)
    votes: Counter[int] = Counter()
    left = PAIRS
    for y, row in new.items():
        found = places.get(row, ())
        left -= len(found)
        if left < 0:
            break
        votes.update(before - y for before in found if before != y)
    if not votes:
        return 0, 0, 0
    by = max(votes, key=lambda n: (votes[n], -abs(n)))
    there = [y for y, row in new.items() if 0 <= y + by < len(rows) and rows[y + by] == row]
    return by, min(there), max(there)
