"""How a rule looks while it is changed: what it would do, whether it may be kept, the keys."""

from __future__ import annotations

from collections.abc import Sequence

from gatewright.agent.text.printable import BLANKS, counted, visible
from gatewright.tools.interact import Place, RuleWeighed
from gatewright.tui.ask.form_rows import CURSOR
from gatewright.tui.ask.rule_edit import RuleEdit
from gatewright.tui.line import BLANK, Line, Span, flow, indent, line, wrap
from gatewright.tui.panels.sheet import foot as foot_of
from gatewright.tui.sanitize import one_line

ELSEWHERE: dict[Place, str] = {
    "session": "this session only",
    "user": "your own settings, for all projects",
}
LABEL = "Allow always, and run it now"
COVERS = "It covers this call."
LOOKING = "Looking at it…"
SURE = "Enter once more keeps it: it lets any code run unasked."
LEAST = 2  # rows of what is told


def being_changed(edit: RuleEdit, head: Sequence[Line], width: int, room: int) -> list[Line]:
    """In so many rows: the rules first, then whether they may be kept and the keys; what is told of
    them scrolls.
    """
    own = [_own(edit, number, width) for number in range(len(edit.texts))]
    told = _told(edit, width)
    foot = [*_verdict(edit, width), *_place(edit, width), *foot_of(_keys(edit), width)]
    rules = [row for rows in own for row in rows]
    size = len(rules) + len(told) + len(foot)
    edit.most = max(edit.most, min(room, len(head) + size + 3))
    air = [BLANK] if room >= len(head) + size + 3 else []
    label = [*air, line(Span(LABEL, "text:b"))] if room >= size + 2 else []
    head = head[: max(1, room - size - len(label) - len(air))]
    free = room - len(head) - len(label) - len(rules) - len(foot)
    told = _window(edit, told, max(min(LEAST, len(told)), free))
    return [*head, *label, *rules, *told, *air, *foot][:room]


def _window(edit: RuleEdit, told: list[Line], room: int) -> list[Line]:
    """The part that is scrolled to, and a word about what is hidden."""
    if len(told) <= room:
        return told
    left = max(1, room - 1)
    edit.top = max(0, min(edit.top, len(told) - left))
    below = len(told) - edit.top - left
    key = f"{below} more, PgDn" if below else f"{edit.top} above, PgUp"
    note = line(Span(f"    … {key}", "warning"))
    return [*told[edit.top : edit.top + left], *([note] if room > 1 else [])]


def _own(edit: RuleEdit, number: int, width: int) -> list[Line]:
    here = number == edit.at
    mark, text = Span("▸ " if here else "  ", "accent"), edit.texts[number]
    role = "text:b" if here else "text"
    before, after = (text[: edit.cursor], text[edit.cursor :]) if here else (text, "")
    cursor = [Span(CURSOR, "accent")] if here else []
    spans = (Span(_exact(before), role), *cursor, Span(_exact(after), role))
    rows = wrap([span for span in spans if span.text], max(8, width - 2), hard=True)
    return indent(rows or [BLANK], mark, "  ")


def _exact(text: str) -> str:
    """As it is stored: whatever does not show is spelled out."""
    return BLANKS.sub(counted, visible(text, strict=True))


def _told(edit: RuleEdit, width: int) -> list[Line]:
    """What is known of the rule with the cursor, or of the first where that is not on a rule."""
    weighed = edit.weighed.rules if edit.weighed is not None else ()
    number = edit.at if edit.at < len(weighed) else 0
    if not weighed:
        return []
    each, inner = weighed[number], max(8, width - 4)
    rows = flow(visible(each.about, strict=True), inner, "text" if each.valid else "warning")
    rows += _others(each, inner)
    for warning in each.warnings:
        rows += flow(visible(warning, strict=True), inner, "warning")
    return indent(rows, "    ", "    ")


def _others(each: RuleWeighed, width: int) -> list[Line]:
    if not each.others:
        return []
    names = " · ".join(one_line(other, strict=True) for other in each.others)
    return flow(f"Of what was asked before, also: {names}.", width, "dim")


def _verdict(edit: RuleEdit, width: int) -> list[Line]:
    """Whether Enter keeps it, in one sentence."""
    if edit.weighed is None:
        return flow(LOOKING, width, "dim")
    if edit.weighed.problem:
        return flow(visible(edit.weighed.problem, strict=True), width, "error")
    if edit.sure:
        return flow(SURE, width, "warning")
    return flow(COVERS, width, "good")


def _place(edit: RuleEdit, width: int) -> list[Line]:
    here = edit.at == len(edit.texts)
    name = ELSEWHERE.get(edit.place, edit.always.place)
    spans = (
        Span("▸ " if here else "  ", "accent"),
        Span("kept in ", "dim"),
        Span(visible(name, strict=True), "text:b" if here else "text"),
    )
    return wrap(spans, width)


def _keys(edit: RuleEdit) -> Sequence[str]:
    """The way out stands before what may be cut."""
    enter = ("enter runs it and keeps the rule",) if edit.stands else ()
    more: tuple[str, ...]
    if edit.at == len(edit.texts):
        more = ("left, right elsewhere", "tab the rule")
    else:
        steps = len(edit.always.steps[edit.at]) > 1
        more = (("up wider, down narrower",) if steps else ()) + ("tab where it is kept",)
    return (*enter, "esc goes back", *more)
