"""How a question looks: what is at stake first, why, then the ways to answer.

The options always fit; a long body scrolls above them and says how much of it is hidden. There
is air only where everything is seen; in little space what is long is cut, which shows.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import msgspec

from gatewright.agent.commands.tasks import elapsed
from gatewright.agent.text.printable import spelled
from gatewright.tools.access import MAIN
from gatewright.tools.blocks import (
    Block,
    Code,
    Command,
    Diff,
    Hunk,
    Image,
    Markdown,
    Output,
    Shares,
    Table,
    Text,
    Todo,
    Unknown,
)
from gatewright.tools.interact import Ask, Option, words
from gatewright.tools.system.hosts import misread
from gatewright.tui import cells
from gatewright.tui.ask.body_window import UNREAD, Window, first_row, window
from gatewright.tui.ask.form import FilledIn
from gatewright.tui.ask.form_rows import being_filled_in, fields
from gatewright.tui.ask.rule_edit import RuleEdit
from gatewright.tui.ask.rule_rows import being_changed
from gatewright.tui.ask.ways import EDIT, TELL, WHOLE, editable, gives, ways
from gatewright.tui.ask.whole import diff_of, new_of
from gatewright.tui.blocks.diff import draw_split, summary
from gatewright.tui.blocks.registry import draw
from gatewright.tui.line import BLANK, Line, Span, clip, flow, indent, line
from gatewright.tui.sanitize import one_line, visible
from gatewright.tui.state import Pending

PAD = 2
MOST = 60  # rows that a changed rule ever wants
TITLE_ROWS = 3
MARKS = "Space or its number marks one, Enter gives what is marked."
FIRST = " · PgDn first"
ROOMY = 56  # columns from which a title has room for a hint
READ = 6  # rows of a body that go before all rows of the reason
SEEN = 4  # rows of it that go before all rows of the options
LEAST = 2  # rows of it that go before all rows of the title


@dataclass(frozen=True)
class Marks:
    """Where the person is: option under the cursor, options marked, first row of the body.

    Without `letters` these belong to the draft: none is shown that would not answer, but for the
    `early` one that is the whole draft. With `tells` the draft is an answer.
    """

    at: int = 0
    picked: frozenset[str] = frozenset()
    scroll: int = UNREAD
    letters: bool = True
    early: str = ""
    tells: bool = False
    waited: int = 0  # seconds that another agent waits
    unread: bool = False  # the reason of a danger has rows that nobody saw yet


class QuestionRows(NamedTuple):
    """What a question is made of, as rows."""

    title: list[Line]
    body: list[Line]
    options: list[Line]
    reason: list[Line]
    cut: frozenset[int] = frozenset()
    must: int = 0  # rows at the beginning of the body that are read before a yes


class Laid:
    """A question in so many cells; what stays the same while it stands is drawn once."""

    def __init__(self, pending: Pending, width: int, form: FilledIn | None = None) -> None:
        self.pending = pending
        self.width = width
        self._inner = width - PAD
        self._said = _body(pending.ask, self._inner)
        folded = (block for block in pending.ask.body if isinstance(block, Code) and block.folded)
        self._read = f"{WHOLE} reads it" if any(folded) else ""
        listed = fields(form, self._inner) if form is not None else []
        self._body = [*self._said, *([BLANK] if self._said and listed else []), *listed]
        self._warned = _warned(pending.ask, self._inner)
        self._reason = [*self._warned, *_reason(pending.ask, self._inner)]

    def draw(self, marks: Marks, room: int, count: int = 1) -> tuple[list[Line], Window]:
        """The rows, and which part of the body is among them."""
        ask = self.pending.ask
        title, body, options, reason, short, must = self._read_first(marks, room, count)
        left = room - len(title) - len(options) - len(reason)
        gap = [BLANK] if left >= len(body) + _gaps(body, reason) else []
        left -= len(gap) * _gaps(body, reason)
        start = 0 if must else first_row(body, ask.lacking, left)
        scroll = start if marks.scroll == UNREAD else marks.scroll
        seen = window(body, max(1, left), scroll, self._inner, self._read)
        seen = seen._replace(cut=short, must=must)
        order = (reason, seen.rows) if ask.danger else (seen.rows, reason)
        parts = [part for part in (*order, options) if part]
        rows = [*title, *(row for part in parts for row in (*gap, *part))]
        bar = Span("▎ ", "warning" if ask.kind in ("permission", "trust") else "accent")
        return indent(rows, bar, bar), seen

    def _read_first(self, marks: Marks, room: int, count: int) -> QuestionRows:
        """Where a reason does not fit it ends what scrolls; that of a danger begins it."""
        found = self._fitting(marks, room, count)
        if len(found.reason) == len(self._reason):
            return found
        gap = [BLANK] if found.body else []
        if not self.pending.ask.danger:
            return found._replace(body=[*found.body, *gap, *self._reason])
        body = [*self._reason, *gap, *found.body]
        return found._replace(body=body, reason=[], must=len(self._reason))

    def _fitting(self, marks: Marks, room: int, count: int) -> QuestionRows:
        """Title, body, options and reason: cut as little as leaves some rows for the body."""
        options = _options(self.pending, marks, self._inner)
        fixed = 2 + len(options) + len(self._warned)  # a row of everything else, the reason too
        most = [max(2, room - fixed) if n == marks.at else 1 for n in range(len(options))]
        own = self.pending.ask.options if marks.letters else ()
        keys = [*(option.key for option in own), *[""] * (len(options) - len(own))]
        few = [
            _shortened(rows, each, self._inner, key)
            for rows, each, key in zip(options, most, keys, strict=True)
        ]
        taken = zip(options[: len(self.pending.ask.options)], most, strict=False)
        lost = frozenset(n for n, (rows, each) in enumerate(taken) if len(rows) > each)
        short = cut(self._reason, len(self._warned) + 1, self._inner)
        title, body = self._head(marks, count)
        for shown, reason, need in (
            (options, self._reason, READ),
            (options, short, SEEN),
            (few, self._reason, SEEN),
            (few, short, LEAST if marks.at == 0 else 1),
        ):
            rows = list(chain(*shown))
            left = room - len(title) - len(reason) - len(rows)
            if left >= min(len(body), need):
                spare = left - len(body)  # the reason takes what nothing else needs
                reason = cut(self._reason, len(reason) + max(0, spare), self._inner)
                return QuestionRows(
                    title, body, rows, reason, lost if shown is few else frozenset()
                )
        return QuestionRows(*self._head(marks, count, rows=1), list(chain(*few)), short, lost)

    def opened(self, opened: FilledIn | RuleEdit, room: int, count: int) -> list[Line]:
        """While the keys are those of what the person opened."""
        if isinstance(opened, FilledIn):
            return self._filled_in(opened, room, count)
        return self._changed(opened, room, count)

    def _filled_in(self, form: FilledIn, room: int, count: int) -> list[Line]:
        """While the keys are the form's."""
        title, rest = _title(self.pending, self._inner, count, TITLE_ROWS)
        head = [*title, *self._warned, *rest, *self._said]
        bar = Span("▎ ", "accent")
        return indent(being_filled_in(form, head, self._inner, room), bar, bar)

    def _changed(self, edit: RuleEdit, room: int, count: int) -> list[Line]:
        """While a rule is changed before it is kept."""
        title, rest = _title(self.pending, self._inner, count, TITLE_ROWS)
        head = [*title, *self._warned, *rest, *self._body]
        bar = Span("▎ ", "accent")
        return indent(being_changed(edit, head, self._inner, room), bar, bar)

    def wants_changed(self, edit: RuleEdit, count: int) -> int:
        """The most rows it took since it was opened: nothing jumps while somebody types."""
        self._changed(edit, MOST, count)
        return edit.most

    def wants(self, marks: Marks, count: int = 1) -> int:
        """The rows it would take with nothing cut and air between the parts."""
        title, body = self._head(marks, count)
        options = sum(map(len, _options(self.pending, marks, self._inner)))
        parts = len(title) + len(body) + len(self._reason) + options
        return parts + _gaps(body, self._reason)

    def _head(
        self, marks: Marks, count: int, rows: int = TITLE_ROWS
    ) -> tuple[list[Line], list[Line]]:
        """Title and body; what of the title is too long begins the body.

        Whose task it is about, and how long that waits, goes where there is no row to spare.
        """
        title, rest = _title(self.pending, self._inner, count, rows, letters=marks.letters)
        if rows > 1 and self.pending.path != MAIN:
            title = [*title, _whose(self.pending, marks.waited, self._inner)]
        if not rest:
            return title, self._body
        return title, [*rest, *([BLANK] if self._body else []), *self._body]


def _warned(ask: Ask, width: int) -> list[Line]:
    """Which hosts are others than they read: the first word about why it is asked."""
    told = [visible(each, strict=True) for each in misread(words(ask))]
    return [row for each in told for row in flow(each, width, "warning")]


def _reason(ask: Ask, width: int) -> list[Line]:
    reason = visible(ask.reason, strict=True)
    rows = flow(reason, width, "warning" if ask.danger else "dim") if reason else []
    return [*rows, *(flow(MARKS, width, "faint") if ask.multiple else ())]


def _gaps(body: list[Line], reason: list[Line]) -> int:
    """Blank rows before each part below the title."""
    return bool(body) + bool(reason) + 1


def cut(rows: list[Line], limit: int, width: int) -> list[Line]:
    """The first rows, with an ellipsis at the end when there were more."""
    if len(rows) <= limit:
        return rows
    last = rows[limit - 1]
    last = last._replace(spans=(*last.spans, Span(" " * width)))
    return [*rows[: limit - 1], clip(last, min(width, last.width - width + 2))]


def _shortened(rows: list[Line], limit: int, width: int, key: str) -> list[Line]:
    """A way to answer in fewer rows; where its key shows the rest of it first, that is said."""
    if len(rows) <= limit or limit > 1 or not key:
        return cut(rows, limit, width)
    note = f" · {key} shows it"
    (row,) = cut(rows, 1, width - len(note))
    return [row._replace(spans=(*row.spans, Span(note, "dim")))]


def _title(
    pending: Pending, width: int, count: int, rows: int, *, letters: bool = False
) -> tuple[list[Line], list[Line]]:
    """Rows of the title; what is too long for one goes on in the body, which scrolls."""
    ask = pending.ask
    name = cells.fit(one_line(pending.agent, strict=True), width // 2)
    who = "" if pending.agent == MAIN else f"{name} asks · "
    more = f"  1 of {count}" if count > 1 else ""
    text = _named(ask)
    if any(isinstance(block, Command) for block in ask.body) and ask.kind == "permission":
        text = "Run this command?"  # which one stands below, whole
    letters = letters and width >= ROOMY
    counts = _counts(ask, letters=letters)
    if letters and new_of(ask) is not None:
        counts = (Span(f"   {WHOLE} whole file", "faint"),)
    taken = cells.width(who + more) + sum(cells.width(span.text) for span in counts)
    parts = flow(text, max(8, width - taken), "text:b")
    whole = [] if len(parts) <= rows else flow(text, width)
    first = parts[0].plain if not whole else cells.fit(text.replace("\n", " "), width - taken)
    gap = Span(" " * max(0, width - taken - cells.width(first)))
    spans = (Span(who, "dim"), Span(first, "text:b"), *counts, gap, Span(more, "dim"))
    head = Line(tuple(span for span in spans if span.text))
    if whole or len(parts) == 1:
        return [head], whole
    return [head, *indent(parts[1:], " " * cells.width(who))], []


def _whose(pending: Pending, waited: int, width: int) -> Line:
    """The task of the agent that asks, and for how long it waits."""
    since = f"  waits {elapsed(waited)}" if waited >= 1 else ""
    task = cells.fit(one_line(pending.task, strict=True), max(0, width - cells.width(since)))
    return line(Span(task, "dim"), Span(since, "faint"))


def _named(ask: Ask) -> str:
    """The title; one that names a file has every blank, tab and line end of its name."""
    title = ask.title.strip()
    if ask.kind != "permission":
        return visible(title, strict=True)
    end = ask.title[len(ask.title.rstrip()) :]
    return one_line(title, strict=True) + "".join(map(spelled, end))


def _counts(ask: Ask, *, letters: bool = False) -> tuple[Span, ...]:
    """Added and removed lines, beside the title that names the only changed file."""
    diffs = [block for block in ask.body if isinstance(block, Diff)]
    if len(diffs) != 1:
        return ()
    more = () if diff_of(ask) is None or not letters else (Span(f"   {WHOLE} whole file", "faint"),)
    return (*summary(diffs[0])[1:], *more)


def _body(ask: Ask, width: int) -> list[Line]:
    rows: list[Line] = []
    named = bool(_counts(ask))
    for block in map(exact, ask.body):
        if isinstance(block, Text) and _named(ask).endswith(f" {block.text}"):
            continue  # the title says it
        if rows:
            rows.append(BLANK)
        if isinstance(block, Code) and block.folded:
            rows.append(_folded(block, width))
        elif isinstance(block, Diff):
            rows += [] if named else [Line(summary(block))]
            rows += draw_split(block, width)
        else:
            rows += draw(block, width)
    return rows


def _folded(code: Code, width: int) -> Line:
    """That there is more to read, how much of it, and how: the last of it is never cut."""
    count = code.text.count("\n") + (not code.text.endswith("\n"))
    size, read = f"{count} lines   ", f"{WHOLE} reads it"
    left = width - cells.width(size + read) - len(", ")
    path = cells.fit_middle(one_line(code.path, strict=True) or "script", left)
    named = f"{path}, " if path else ""
    return line(Span(named + size, "dim"), Span(read, "accent"))


def _options(pending: Pending, marks: Marks, width: int) -> list[list[Line]]:
    return [
        _option(pending, number, option, marks, width)
        for number, option in enumerate(ways(pending, tells=marks.tells))
    ]


def _option(pending: Pending, number: int, option: Option, marks: Marks, width: int) -> list[Line]:
    ask, here = pending.ask, number == marks.at
    key = option.key if marks.letters or option.key == marks.early else ""
    head = [
        Span("▸ " if here else "  ", "accent"),
        Span(cells.pad(key, 3), "accent" if here else "dim"),
    ]
    if ask.multiple and option.id and not option.alone:
        head.append(Span("[x] " if option.id in marks.picked else "[ ] ", "dim"))
    size = sum(cells.width(span.text) for span in head)
    room = max(8, width - size)
    besides = FIRST if marks.unread and gives(pending, number) else _besides(ask, option, marks)
    said = visible(option.label, strict=True) + besides
    label = flow(said, room, "text:b" if here else "text")
    rows = [Line((*head, *label[0].spans)), *indent(label[1:], " " * size)]
    if option.help and ask.kind != "permission":
        rows += indent(flow(visible(option.help, strict=True), room, "dim"), " " * size)
    return rows


def _besides(ask: Ask, option: Option, marks: Marks) -> str:
    """Keys that belong to a way to answer besides its letter."""
    if marks.tells and option.key == TELL:
        return " · esc takes it back"
    if marks.letters and _changeable(ask, option):
        return f" · {EDIT}\u00a0changes\u00a0the\u00a0rule"
    return " · esc" if marks.letters and option.id == "no" else ""


def _changeable(ask: Ask, option: Option) -> bool:
    return option.id == "always" and editable(ask)


def exact(block: Block) -> Block:
    """With every hidden character spelled out, as people judge the exact text: nothing more is
    hidden by drawing it afterwards.
    """
    match block:
        case Text() | Markdown() | Code() | Output():
            return msgspec.structs.replace(block, text=visible(block.text, strict=True))
        case Diff(path=path, hunks=hunks):
            shown = tuple(map(_exact_hunk, hunks))
            return msgspec.structs.replace(block, path=visible(path, strict=True), hunks=shown)
        case Table(headers=headers, rows=rows):
            return Table(_all(headers), tuple(map(_all, rows)))
        case Command() | Shares() | Todo() | Image() | Unknown():
            return block  # a command is drawn exactly anyway; the others are not judged


def _exact_hunk(hunk: Hunk) -> Hunk:
    lines = tuple(line[:1] + visible(line[1:], strict=True) for line in hunk.lines)
    return Hunk(hunk.old_start, hunk.new_start, lines)


def _all(cells: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(visible(cell, strict=True) for cell in cells)
