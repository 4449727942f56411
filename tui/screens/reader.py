"""The whole conversation, full screen: scroll, search, open in an editor."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual import events
from textual.app import ComposeResult
from textual.screen import Screen

from gatewright.tools.blocks import plain
from gatewright.tui import cells
from gatewright.tui.line import Line, Span, clip, line
from gatewright.tui.rows import Rows
from gatewright.tui.sanitize import one_line
from gatewright.tui.style.look import Look
from gatewright.tui.transcript import looked
from gatewright.tui.transcript.items import (
    AgentBlock,
    Ending,
    Invocation,
    Item,
    Looked,
    Note,
    Prose,
    Rule,
    Said,
    Shown,
    Thought,
    ToolRun,
)
from gatewright.tui.transcript.tool import head
from gatewright.tui.transcript.view import Transcript
from gatewright.tui.transcript.window import START, Place

HINT = "/ searches  esc closes  up down scroll  v opens an editor"  # what matters most comes first
ABOVE = 3  # rows above the one to begin with
MORE = "more below  end"  # nothing comes that could be followed
GAP = "  "
WIDEST = 4_000  # cells: nothing is cut
HITS = "n next  N previous  esc closes"


def source(item: Item) -> str:
    """The text of a record, as it is searched and handed to an editor."""
    match item:
        case Said(text=text):
            return f"> {text}"
        case Prose(text=text) | Thought(text=text) | Note(text=text):
            return text
        case Rule(text=text, more=more) | Invocation(text=text, more=more):
            return f"{text}\n{more}".rstrip()
        case ToolRun():
            return _call(item)
        case Looked(runs=runs):
            return "\n".join(map(_call, runs))
        case AgentBlock():
            return f"{item.label}: {item.task}\n{item.report or item.doing}".rstrip()
        case Shown(blocks=blocks):
            return "\n".join(map(plain, blocks))
        case Ending(message=message):
            return message


def _call(item: ToolRun) -> str:
    body = "\n".join(plain(block) for block in item.view) or item.text
    return f"{item.verb} {item.target}\n{body}".rstrip()


def searched(item: Item) -> str:
    """What stands in its rows too: how a call ended."""
    match item:
        case ToolRun():
            heads = head(item, WIDEST)
        case Looked(runs=runs):
            heads = looked.rows(runs, WIDEST)
        case AgentBlock():
            return f"{source(item)}\n{item.state} {item.why}"
        case _:
            return source(item)
    return "\n".join((source(item), *(row.plain for row in heads)))


class Foot(Rows):
    """What is searched for and where, or which keys there are."""

    text = ""
    hint = HINT
    typing = False

    def tell(self, text: str, hint: str = HINT, *, typing: bool = False) -> None:
        self.text, self.hint, self.typing = text, hint, typing
        self.refresh_rows()

    def rows(self, width: int) -> list[Line]:
        if self.typing:
            row = line(Span("/", "accent"), Span(one_line(self.text)), Span(" ", "text:r"))
        else:
            told = f"{one_line(self.text)}   " if self.text else ""
            hint = self.hint
            while cells.width(told + hint) > width and GAP in hint:
                hint = hint.rpartition(GAP)[0]
            row = line(Span(told, "text"), Span(hint, "dim"))
        return [clip(row, width)]


class Reader(Screen[None]):
    """A second window onto the same records, everything opened."""

    CSS = "Reader Foot { height: 1; }"

    def __init__(
        self,
        look: Look,
        items: Sequence[Item],
        edit: Callable[[str], object],
        *,
        from_top: bool = False,
        start: Callable[[Line], bool] | None = None,
    ) -> None:
        """`start` knows the row to begin with, which is seen with some of those above it."""
        super().__init__()
        self._from_top = from_top
        self._start_at = start
        self._items = [item for item in items if not isinstance(item, Ending) or item.message]
        self._edit = edit
        self.transcript = Transcript(look)
        self.transcript.records.open_all = True
        self.transcript.back = MORE
        self.foot = Foot(look)
        self.closed = False
        self._query = ""
        self._typed: str | None = None
        self._hits: list[Place] = []
        self._hit = 0

    def over(self, screen: Screen[None], then: Callable[[], None]) -> Reader:
        """Show it; `then` is called once it is closed."""

        def closed(_: None) -> None:
            then()

        screen.app.push_screen(self, closed)  # pyright: ignore[reportUnknownMemberType]
        return self

    def renew(self, items: Sequence[Item]) -> None:
        """The same records as they are now, and what came after them; the place is kept."""
        if self.closed or not self.is_attached:
            return
        for before, now in zip(self._items, items, strict=False):
            if before != now:
                self.transcript.patch(now)
        for added in items[len(self._items) :]:
            self.transcript.append(added)
        self._items[: len(items)] = items
        self.transcript.sync()

    def compose(self) -> ComposeResult:
        yield self.transcript
        yield self.foot

    def on_mount(self) -> None:
        for item in self._items:
            self.transcript.append(item)
        self.transcript.sync()
        if self._from_top:
            self.transcript.home()
            self.call_after_refresh(self.transcript.go_to, self._first())  # maybe its end

    def _first(self) -> Place:
        records, wanted = self.transcript.records, self._start_at
        for row, made in enumerate(records.rows(0, 0) if wanted and records.items() else ()):
            if wanted is not None and wanted(made):
                return Place(0, 0, max(0, row - ABOVE))
        return START

    def on_key(self, event: events.Key) -> None:
        event.stop()
        if self._typed is not None:
            self._type(event.key, event.character or "")
            return
        moves: dict[str, Callable[[], object]] = {
            "up": lambda: self.transcript.scroll_rows(-1),
            "k": lambda: self.transcript.scroll_rows(-1),
            "down": lambda: self.transcript.scroll_rows(1),
            "j": lambda: self.transcript.scroll_rows(1),
            "pageup": lambda: self.transcript.page(-1),
            "b": lambda: self.transcript.page(-1),
            "pagedown": lambda: self.transcript.page(1),
            "space": lambda: self.transcript.page(1),
            "home": self.transcript.home,
            "g": self.transcript.home,
            "end": self.transcript.follow,
            "G": self.transcript.follow,
            "slash": self._start,
            "n": lambda: self._next(1),
            "N": lambda: self._next(-1),
            "v": lambda: self._edit("\n\n".join(map(source, self._items))),
            "q": self._close,
            "escape": self._close,
            "ctrl+t": self._close,
            "ctrl+c": self._close,
        }
        move = moves.get(event.key)
        if move is not None:
            move()

    def _close(self) -> None:
        if self.is_current and not self.closed:  # the next key may come before it is gone
            self.closed = True
            self.dismiss(None)

    def _start(self) -> None:
        self._typed = ""
        self.foot.tell("", typing=True)

    def _type(self, key: str, character: str) -> None:
        assert self._typed is not None
        if key == "enter":
            query, self._typed = self._typed, None
            self._search(query)
            return
        if key in ("escape", "ctrl+c"):
            self._typed = None
            self.foot.tell("")
            return
        if key == "backspace":
            self._typed = self._typed[:-1]
        elif character.isprintable():
            self._typed += character
        self.foot.tell(self._typed, typing=True)

    def _search(self, query: str) -> None:
        self._query = self.transcript.find = query.lower()
        self._hits = self._places() if self._query else []
        self._hit = len(self._hits)
        self.transcript.repaint()
        self._next(-1)

    def _places(self) -> list[Place]:
        """Every row that holds the query; records are drawn only where their text has it."""
        records = self.transcript.records
        found: list[Place] = []
        for number, item in enumerate(records.all()):
            if self._query not in searched(item).lower():
                continue
            for chunk in range(records.chunks(number)):
                rows = records.rows(number, chunk)
                found += [
                    Place(number, chunk, n)
                    for n, row in enumerate(rows)
                    if self._query in row.plain.lower()
                ]
        return found

    def _next(self, step: int) -> None:
        if not self._hits:
            self.foot.tell(f"Nothing found for {self._query}" if self._query else "")
            return
        self._hit = (self._hit + step) % len(self._hits)
        self.transcript.go_to(self._hits[self._hit])
        self.foot.tell(f"{self._query}: {self._hit + 1} of {len(self._hits)}", HITS)
