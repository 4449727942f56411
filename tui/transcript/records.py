"""The records of one transcript with their chunks and rows, made when they are first looked at.

Every cache has a cap: what is far from the visible part is forgotten and made again.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

from gatewright.tui.blocks.pieces import Cutter
from gatewright.tui.line import BLANK, Line
from gatewright.tui.transcript.draw import STEPS, Chunk, chunks_of, gap_between, piece_chunk
from gatewright.tui.transcript.items import Item, Note, Prose, Thought

MAX_ITEMS = 400  # records whose chunks are kept
MAX_BRANCHES = 8
MANY = 8  # chunks that only an opened record has
MAX_ROWS = 6000  # rows of drawn chunks that are kept


@dataclass
class _Stream:
    """A message that still grows: pieces already final, and how much text they came from."""

    id: int
    cutter: Cutter
    text: str
    final: list[Chunk]


class Records:
    """Implements `window.Content` for a width that the owner sets."""

    def __init__(self) -> None:
        self.width = 80
        self.open_all = False
        self.open_thoughts = False
        self._items: list[Item] = []
        self._index: dict[int, int] = {}
        self._expanded: set[int] = set()
        self._chunks: OrderedDict[int, list[Chunk]] = OrderedDict()  # by item id
        self._rows: OrderedDict[Chunk, list[Line]] = OrderedDict()
        self._held = 0
        self._stream: _Stream | None = None
        self._ahead: tuple[Item, bool, list[Chunk]] | None = None  # made to look what they hold
        self._marks: dict[str, int] = {}  # event -> records up to it
        self._left: list[tuple[list[Item], dict[str, int]]] = []  # branches that were left

    def items(self) -> int:
        return len(self._items)

    def chunks(self, item: int) -> int:
        return len(self._chunks_at(item))

    def height(self, item: int, chunk: int) -> int:
        made = self._chunks_at(item)
        if chunk >= len(made):
            return 0
        return len(self._rows_of(made[chunk])) + (self.gap(item) if not chunk else 0)

    def rows(self, item: int, chunk: int) -> list[Line]:
        """The rows of a chunk, with the gap above its record."""
        rows = self._rows_of(self._chunks_at(item)[chunk])
        gap = 0 if chunk else self.gap(item)
        return [BLANK] * gap + rows if gap else rows

    def only_notes(self) -> bool:
        """Nothing was said yet, only noted."""
        return all(isinstance(item, Note) for item in self._items)

    def at(self, item: int) -> Item:
        return self._items[item]

    def find(self, id: int) -> int | None:
        return self._index.get(id)

    def all(self) -> list[Item]:
        return self._items

    def append(self, item: Item) -> None:
        self._index[item.id] = len(self._items)
        self._items.append(item)

    def patch(self, item: Item) -> None:
        index = self._index.get(item.id)
        if index is None:
            return
        self._items[index] = item
        self._drop(item.id)

    def remove(self, id: int) -> None:
        index = self._index.pop(id, None)
        if index is None:
            return
        del self._items[index]
        self._drop(id)
        for number in range(index, len(self._items)):
            self._index[self._items[number].id] = number

    def clear(self) -> None:
        self._items.clear()
        self._index.clear()
        self._chunks.clear()
        self._rows.clear()
        self._held = 0
        self._stream = None
        self._marks.clear()

    def mark(self, uuid: str) -> None:
        """Everything so far belongs to this event or earlier ones."""
        self._marks[uuid] = len(self._items)

    def rewind(self, to: str) -> None:
        """Go back to an event of this branch, or of one that was left before."""
        self._left.append((list(self._items), dict(self._marks)))
        del self._left[:-MAX_BRANCHES]
        if to and to not in self._marks:
            for items, marks in reversed(self._left):
                if to in marks:
                    self._items, self._marks = list(items), dict(marks)
                    break
        count = self._marks.get(to, 0)
        del self._items[count:]
        self._marks = {uuid: n for uuid, n in self._marks.items() if n <= count}
        self._index = {item.id: n for n, item in enumerate(self._items)}

    def resize(self, width: int) -> None:
        if width != self.width:
            self.width = width
            self._rows.clear()
            self._held = 0

    def toggle(self, item: int) -> None:
        """Open or close the body of a record."""
        id = self._items[item].id
        self._expanded ^= {id}
        self._drop(id)

    def open_everything(self, *, on: bool) -> None:
        """Show the bodies of all records, or of none."""
        self.open_all = on
        self._expanded.clear()
        self._chunks.clear()
        self._rows.clear()
        self._held = 0

    def expanded(self, item: int) -> bool:
        found = self._items[item]
        shown = self.open_all or (self.open_thoughts and isinstance(found, Thought))
        return shown != (found.id in self._expanded)

    def has_more(self, item: int) -> bool:
        """Whether opening or closing the record changes what is seen of it."""
        found, shown = self._items[item], self.expanded(item)
        whole = self.open_all
        here, there = (chunks_of(found, expanded=on, whole=whole) for on in (shown, not shown))
        if max(len(here), len(there)) > MANY:
            self._ahead = None if whole else (found, not shown, there)  # it is turned round next
            return True
        rows = [
            [row.plain for c in chunks for row in c.rows(self.width)] for chunks in (here, there)
        ]
        return rows[0] != rows[1]

    def gap(self, item: int) -> int:
        """Blank rows above a record."""
        if not item:
            return 0
        above, here = self._items[item - 1], self._items[item]
        if isinstance(above, STEPS) and isinstance(here, STEPS):
            opened = self.expanded(item - 1) or self.expanded(item)
            return 1 if opened else gap_between(above, here)
        return gap_between(above, here)

    def _drop(self, id: int) -> None:
        stream = self._stream
        final = set(stream.final if stream is not None and stream.id == id else ())
        for chunk in self._chunks.pop(id, ()):
            if chunk not in final:
                self._forget(chunk)

    def _forget(self, chunk: Chunk) -> None:
        rows = self._rows.pop(chunk, None)
        if rows is not None:
            self._held -= len(rows)

    def _chunks_at(self, index: int) -> list[Chunk]:
        item = self._items[index]
        made = self._chunks.get(item.id)
        if made is not None:
            self._chunks.move_to_end(item.id)
            return made
        if isinstance(item, Prose) and (not item.done or self._streams(item)):
            made = self._grown(item)
        else:
            made = self._made(item, expanded=self.expanded(index))
        self._chunks[item.id] = made
        while len(self._chunks) > MAX_ITEMS:
            _id, old = self._chunks.popitem(last=False)
            for chunk in old:
                self._forget(chunk)
        return made

    def _made(self, item: Item, *, expanded: bool) -> list[Chunk]:
        ahead, self._ahead = self._ahead, None
        if ahead is not None and not self.open_all and ahead[0] is item and ahead[1] is expanded:
            return ahead[2]
        return chunks_of(item, expanded=expanded, whole=self.open_all)

    def _streams(self, item: Prose) -> bool:
        return self._stream is not None and self._stream.id == item.id

    def _grown(self, item: Prose) -> list[Chunk]:
        """The chunks of a message that is still being written: only its end is made anew."""
        stream = self._stream
        if stream is None or stream.id != item.id or not item.text.startswith(stream.text):
            stream = self._stream = _Stream(item.id, Cutter(), "", [])
        for piece in stream.cutter.feed(item.text[len(stream.text) :]):
            stream.final.append(piece_chunk(piece, len(stream.final)))
        stream.text = item.text
        first = len(stream.final)
        live = [piece_chunk(p, first + n) for n, p in enumerate(stream.cutter.live())]
        made = [*stream.final, *live]
        if item.done:
            self._stream = None
        return made

    def _rows_of(self, chunk: Chunk) -> list[Line]:
        rows = self._rows.get(chunk)
        if rows is not None:
            self._rows.move_to_end(chunk)
            return rows
        rows = self._rows[chunk] = chunk.rows(self.width)
        self._held += len(rows)
        while self._held > MAX_ROWS and len(self._rows) > 1:
            _chunk, old = self._rows.popitem(last=False)
            self._held -= len(old)
        return rows
