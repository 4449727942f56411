"""The last line of the screen: mode always, then model and place; what it costs on the right."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from gatewright.agent.text.money import dollars
from gatewright.tui import cells
from gatewright.tui.early.frame import STARTING
from gatewright.tui.line import Line, Span, clip
from gatewright.tui.rows import Rows
from gatewright.tui.sanitize import one_line
from gatewright.tui.state import View
from gatewright.tui.style.look import Look
from gatewright.tui.terminal.sgr import lines
from gatewright.tui.transcript.figures import count

GAP = "   "
PART = 32  # cells of a name; the end of a longer one stays readable
SHORT, LEAST = 18, 14  # where there is no room for more, and for that
AUTO = "auto"
STANDS = {"paused": "paused", "down": "judge down"}
OWN_ROWS = 3  # of the person's own command
ROOMY = 16  # rows of a screen that has room for more than one of them
MAX_PADDING = 20
# Where there is no room, in turn.
GIVES_WAY = ("remark", "tokens", "cost", "jobs", "tasks", "context", "hooks", "sandbox")
STAYS = ("tasks", "jobs", "hooks", "sandbox")  # beside a line of the person's own
FULL = 80  # per cent of the window from which the number warns


def left_parts(view: View, branch: str, part: int = PART) -> list[Span]:
    mode = view.mode or STARTING
    if view.auto and view.mode == AUTO:
        mode = f"{mode} · {STANDS[view.auto]}"
    parts = [Span(one_line(mode), f"mode.{view.mode}".replace(":", "") if view.mode else "faint")]
    if view.model:
        parts.append(Span(cells.fit_middle(one_line(view.model), part), "dim"))
    if view.ultracode:
        parts.append(Span("ultracode", "accent"))
    parts += _place(view)
    if branch:
        parts.append(Span(cells.fit_middle(one_line(branch), part), "faint"))
    return parts


def _place(view: View) -> list[Span]:
    """Where commands run, once that is not the directory the person knows about."""
    if not view.moved:
        return []
    return [Span(cells.fit_middle(f"in {one_line(view.moved)}", PART), "warning")]


def right_parts(view: View) -> dict[str, Span]:
    parts: dict[str, Span] = {}
    if view.tasks:
        parts["tasks"] = Span(f"{len(view.tasks)} in background", "dim")
    if view.jobs:
        many = len(view.jobs)
        parts["jobs"] = Span(f"{many} job{'' if many == 1 else 's'} to come", "dim")
    if view.remark:
        parts["remark"] = Span(one_line(view.remark), "faint")
    tokens = view.usage.context
    if tokens:
        parts["tokens"] = Span(f"{count(tokens)} tokens", "faint")
    if view.cost:
        parts["cost"] = Span(dollars(view.cost), "dim")
    if view.window and view.context:
        share = min(100, round(100 * view.context / view.window))
        parts["context"] = Span(f"{share}% context", "warning" if share >= FULL else "dim")
    elif view.context:  # of what was stored; how large the window is a request will say
        parts["context"] = Span(f"{count(view.context)} in context", "dim")
    if view.hook_failures:
        parts["hooks"] = Span(_failed(view.hook_failures), "warning")
    if not view.confined:
        parts["sandbox"] = Span("no sandbox", "warning")
    return parts


def _failed(count: int) -> str:
    return f"{count} hook {'failure' if count == 1 else 'failures'}"


def status_row(view: View, width: int, *, branch: str = "", hint: str = "") -> Line:
    """Left and right parts with the room between them; what somebody is told now stays longest."""
    right = right_parts(view)
    names = left_parts(view, branch)
    said = [Span(hint, "faint")] if hint else []

    def over() -> bool:
        tail = _joined(right.values())
        return _size(_joined([*names, *said])) + _size(tail) + (len(GAP) if tail else 0) > width

    for name in GIVES_WAY[:2]:
        if over():
            right.pop(name, None)
    for narrower in _narrower(view, branch):
        if over():
            names = narrower
    while said and over() and len(names) > 1:
        names.pop()  # the hint is gone in a moment, they come back
    for name in GIVES_WAY:
        if over():
            right.pop(name, None)
    while over() and len(names) > 1:
        names.pop()
    left = clip(Line(tuple(_joined([*names, *said]))), width).spans
    tail = _joined(right.values())
    room = Span(" " * max(0, width - _size(list(left)) - _size(tail)))
    return Line((*left, room, *tail))


def _narrower(view: View, branch: str) -> Iterator[list[Span]]:
    """The shell's own prompt has the branch too; what is left of the window stands nowhere else."""
    yield left_parts(view, branch, SHORT)
    yield left_parts(view, "", SHORT)
    yield left_parts(view, "", LEAST)


def _joined(parts: Iterable[Span]) -> list[Span]:
    joined: list[Span] = []
    for part in parts:
        joined += [Span(GAP), part] if joined else [part]
    return joined


def _size(spans: list[Span]) -> int:
    return sum(cells.width(span.text) for span in spans)


def own_row(view: View, width: int, own: Line, *, hint: str = "") -> Line:
    """The mode, then the person's own line; what warns stays at the right end."""
    left, right = _around(view, hint)
    room = own_room(view, width, hint)
    shown = clip(own, room)
    blank = Span(" " * (room - shown.width + len(GAP))) if right else Span("")
    return Line((*left, Span(GAP), *shown.spans, blank, *right))


def own_room(view: View, width: int, hint: str = "") -> int:
    """Cells for the person's own line."""
    left, right = _around(view, hint)
    return max(1, width - _size(left) - (_size(right) + len(GAP) if right else 0) - len(GAP))


def _around(view: View, hint: str) -> tuple[list[Span], list[Span]]:
    """What no command takes the place of."""
    left = [left_parts(view, "")[0], *_place(view), *([Span(hint, "faint")] if hint else [])]
    right = right_parts(view)
    return _joined(left), _joined(right[name] for name in STAYS if name in right)


class Status(Rows):
    """Shows the view it was given last, or the lines of the person's own command."""

    def __init__(self, look: Look, *, id: str | None = None) -> None:
        super().__init__(look, id=id)
        self.view = View()
        self.branch = ""
        self.hint = ""
        self.editing = ""  # vim's mode, when it is not inserting
        self.watched = ""  # the agent that is looked at
        self.own: tuple[Line, ...] = ()
        self.on_change: Callable[[], None] = _nothing  # what an own line shows may be another now

    def show(self, view: View) -> None:
        before, self.view = self.view, view
        self.refresh_rows()
        if _facts(before) != _facts(view):
            self.on_change()

    def show_own(self, output: str | None, padding: int = 0) -> None:
        """The output of the person's own command; None for the built-in line."""
        rows = () if output is None else lines(output, OWN_ROWS)
        side = " " * min(padding, MAX_PADDING)
        own = tuple(Line((Span(side), *row.spans, Span(side))) if side else row for row in rows)
        if own != self.own:
            self.own = own
            self.refresh_rows()

    def room(self) -> int:
        """Cells for the first line of the person's own command."""
        return own_room(self.view, max(8, self.size.width - 2 * self.SIDE), self.editing)

    def turn(self, editing: str) -> None:
        """Vim's normal mode began or ended."""
        self.editing = editing
        self.refresh_rows()
        self.on_change()

    def on_resize(self) -> None:
        self.refresh_rows()
        self.on_change()

    def look_at(self, name: str) -> None:
        """Another agent is looked at; empty for the main one."""
        self.watched = name
        self.refresh_rows()

    def tell(self, hint: str) -> None:
        """A short hint beside the mode; empty takes it away."""
        self.hint = hint
        self.refresh_rows()

    def rows(self, width: int) -> list[Line]:
        hint = "  ".join(filter(None, (self.editing, self.watched, self.hint)))
        if not self.own:
            return [status_row(self.view, width, branch=self.branch, hint=hint)]
        first = own_row(self.view, width, self.own[0], hint=hint)
        more = self.own[1:] if self.screen.size.height >= ROOMY else ()
        return [first, *(clip(row, width) for row in more)]


def _facts(view: View) -> tuple[object, ...]:
    """What a command would be told anew."""
    used = (view.usage, view.cost, view.context, view.window)
    return (view.mode, view.auto, view.model, view.title, view.cwd, view.busy, *used)


def _nothing() -> None:
    """Nobody waits for changes."""
