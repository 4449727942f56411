"""Questions to the person, inline above the prompt: one at a time, the draft untouched.

Keys typed within a moment of its appearance are not answers: they were meant for something else.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from textual import events
from textual.message import Message

from gatewright.tools.blocks import Command, Diff
from gatewright.tools.interact import Answer, Ask, Option
from gatewright.tui import cells
from gatewright.tui.ask.exact import exact
from gatewright.tui.blocks.diff import draw_split, summary
from gatewright.tui.blocks.registry import draw
from gatewright.tui.line import BLANK, Line, Span, clip, flow, indent, line
from gatewright.tui.look import Look
from gatewright.tui.rows import Rows
from gatewright.tui.sanitize import one_line, visible
from gatewright.tui.state import MAIN, Pending

GUARD = 0.4  # seconds
PAD = 2
TELL = "t"


class AskPanel(Rows, can_focus=True):
    """Shows the oldest pending question; answers leave as messages."""

    BACK = "surface"

    class Answered(Message):
        def __init__(self, id: int, answer: Answer) -> None:
            super().__init__()
            self.id = id
            self.answer = answer

    class WantsText(Message):
        """The person wants to answer in words: the screen opens the line editor."""

        def __init__(self, id: int) -> None:
            super().__init__()
            self.id = id

    def __init__(
        self, look: Look, *, clock: Callable[[], float] = time.monotonic, id: str | None = None
    ) -> None:
        super().__init__(look, id=id)
        self._clock = clock
        self.pending: Pending | None = None
        self.count = 0
        self.at = 0
        self.picked: set[str] = set()
        self.scroll = 0
        self.room = 24  # rows the panel may take
        self._since = 0.0
        self._hidden = 0

    def show(self, asks: tuple[Pending, ...]) -> bool:
        """Show the first of these; True when it is another one than before."""
        first = asks[0] if asks else None
        self.count = len(asks)
        fresh = first is not None and (self.pending is None or self.pending.id != first.id)
        self.pending = first
        if fresh:
            self.at, self.scroll, self.picked = 0, 0, set()
            self._since = self._clock()
        self.refresh_rows()
        return fresh

    @property
    def guarded(self) -> bool:
        """Whether keys are not answers yet."""
        return self._clock() - self._since < GUARD

    def on_key(self, event: events.Key) -> None:
        if self.pending is None:
            return
        if self._handled(event.key, event.character or ""):
            event.stop()
            event.prevent_default()

    def _handled(self, key: str, character: str) -> bool:
        steps = {"up": -1, "down": 1, "ctrl+p": -1, "ctrl+n": 1, "tab": 1, "shift+tab": -1}
        if key in steps:
            self.at = (self.at + steps[key]) % max(1, self._entries())
            self.refresh_rows()
        elif key in ("pageup", "pagedown"):
            step = max(1, self.room // 2)
            self.scroll = max(0, self.scroll + (step if key == "pagedown" else -step))
            self.refresh_rows()
        elif key.startswith(("ctrl+", "alt+", "f")) and len(key) > 1:
            return False
        elif self.guarded:
            return True
        elif key == "escape":
            self._finish(self._refusal())
        elif key == "enter":
            self._pick(self.at)
        elif key == "space" and self._ask().multiple:
            self._mark(self.at)
        else:
            self._key(character)
        return True

    def _ask(self) -> Ask:
        assert self.pending is not None
        return self.pending.ask

    def _key(self, character: str) -> None:
        if character == TELL and self._ask().free_text:
            self._pick(len(self._ask().options))
            return
        for number, option in enumerate(self._ask().options):
            if option.key and option.key == character:
                self.at = number
                self._pick(number)
                return

    def _entries(self) -> int:
        ask = self._ask()
        return len(ask.options) + int(ask.free_text)

    def _refusal(self) -> Answer:
        """What Escape means: the option that says no, or no answer at all."""
        ids = [option.id for option in self._ask().options]
        return Answer(choices=("no",)) if "no" in ids else Answer(cancelled=True)

    def _pick(self, number: int) -> None:
        ask = self._ask()
        if number >= len(ask.options):
            assert self.pending is not None
            self.post_message(self.WantsText(self.pending.id))
            return
        if ask.multiple:
            if not self.picked:
                self._mark(number)
            self._finish(Answer(choices=tuple(o.id for o in ask.options if o.id in self.picked)))
        else:
            self._finish(Answer(choices=(ask.options[number].id,)))

    def _mark(self, number: int) -> None:
        options = self._ask().options
        if number < len(options):
            self.picked ^= {options[number].id}
            self.refresh_rows()

    def _finish(self, answer: Answer) -> None:
        assert self.pending is not None
        self.post_message(self.Answered(self.pending.id, answer))

    # drawing

    def rows(self, width: int) -> list[Line]:
        if self.pending is None:
            return []
        ask = self.pending.ask
        inner = width - PAD
        body = self._body(inner)
        reason = flow(visible(ask.reason, strict=True), inner, "dim") if ask.reason else []
        options = self._options(inner)
        left = self.room - 1 - len(options)
        airy = left >= len(reason) + 3 + min(len(body), 3)
        gap = [BLANK] if airy else []
        if not airy:
            reason = [clip(row, inner) for row in reason[:1]] if left >= 3 else []
        left -= len(reason) + len(gap) * (3 if reason else 2)
        shown = self._window(body, max(1, left))
        parts = [part for part in (shown, reason, options) if part]
        rows = [self._title(inner), *(row for part in parts for row in (*gap, *part))]
        bar = Span("▎ ", "warning" if ask.kind == "permission" else "accent")
        return indent(rows, bar, bar)

    def _title(self, width: int) -> Line:
        assert self.pending is not None
        ask = self.pending.ask
        who = "" if self.pending.agent == MAIN else f"{one_line(self.pending.agent)} asks · "
        more = f"  1 of {self.count}" if self.count > 1 else ""
        text = ask.title
        if any(isinstance(block, Command) for block in ask.body) and ask.kind == "permission":
            text = "Run this command?"  # which one stands below, whole
        counts = self._counts()
        taken = cells.width(who + more) + sum(cells.width(span.text) for span in counts)
        title = cells.fit(one_line(text, strict=True), width - taken)
        gap = " " * max(0, width - taken - cells.width(title))
        spans = (Span(who, "dim"), Span(title, "text:b"), *counts, Span(gap), Span(more, "dim"))
        return Line(tuple(span for span in spans if span.text))

    def _counts(self) -> tuple[Span, ...]:
        """Added and removed lines, beside the title that names the only changed file."""
        diffs = [block for block in self._ask().body if isinstance(block, Diff)]
        return summary(diffs[0])[1:] if len(diffs) == 1 else ()

    def _body(self, width: int) -> list[Line]:
        rows: list[Line] = []
        named = bool(self._counts())
        for block in map(exact, self._ask().body):
            if rows:
                rows.append(BLANK)
            if isinstance(block, Diff):
                rows += [] if named else [Line(summary(block))]
                rows += draw_split(block, width)
            else:
                rows += draw(block, width)
        return rows

    def _window(self, body: list[Line], limit: int) -> list[Line]:
        """The part of a long body that is scrolled to, and how much is hidden."""
        if len(body) <= limit:
            return body
        room = max(1, limit - 1)
        self.scroll = min(self.scroll, len(body) - room)
        shown = body[self.scroll : self.scroll + room]
        below = len(body) - self.scroll - room
        where = f"{below} more rows below" if below else f"{self.scroll} rows above"
        more = line(Span(f"… {where}  page up, page down", "faint"))
        return [*shown, more] if limit > 1 else shown

    def _options(self, width: int) -> list[Line]:
        ask = self._ask()
        rows: list[Line] = []
        for number, option in enumerate(ask.options):
            rows += self._option(option, number, width)
        if ask.free_text:
            label = (
                "Tell the agent what to do instead"
                if ask.kind == "permission"
                else "Something else"
            )
            rows += self._option(Option("", label, TELL), len(ask.options), width)
        return rows

    def _option(self, option: Option, number: int, width: int) -> list[Line]:
        here = number == self.at
        mark = Span("▸ " if here else "  ", "accent")
        key = Span(cells.pad(option.key, 3), "accent" if here else "dim")
        box = ""
        if self._ask().multiple and option.id:
            box = "[x] " if option.id in self.picked else "[ ] "
        head = (mark, key, Span(box, "dim")) if box else (mark, key)
        size = sum(cells.width(span.text) for span in head)
        label = flow(
            visible(option.label, strict=True), max(8, width - size), "text:b" if here else "text"
        )
        rows = [Line((*head, *label[0].spans)), *indent(label[1:], " " * size)]
        help = option.help if self._ask().kind != "permission" else ""
        if help:
            rows += indent(flow(visible(help), max(8, width - size), "dim"), " " * size)
        return rows
