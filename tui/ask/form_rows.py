"""How a form looks: every field with what stands in it, the one that has the keys in sight."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gatewright.tools.form_values import TYPED, limits
from gatewright.tools.interact import Field
from gatewright.tui import cells
from gatewright.tui.ask.form import FilledIn
from gatewright.tui.line import BLANK, Line, Span, flow, indent, wrap
from gatewright.tui.panels.sheet import foot as foot_of
from gatewright.tui.sanitize import one_line

DOT, CURSOR = "\u2022", "\u258f"
LONGEST = 400  # characters of a value that are drawn
GIVE = "Send it"
NEEDED = "* needed"
KEYS: dict[str, str] = {
    "boolean": "space, y or n",
    "one": "left, right choose",
    "several": "left, right, space marks",
}


def fields(form: FilledIn, width: int) -> list[Line]:
    """All of them, one below the other."""
    return [row for number in range(len(form.fields)) for row in _field(form, number, width)]


def being_filled_in(form: FilledIn, head: Sequence[Line], width: int, room: int) -> list[Line]:
    """In so many rows: as much of the head as leaves the form some, and the field with the keys."""
    parts = [_field(form, number, width) for number in range(len(form.fields))]
    rows = [row for part in parts for row in part]
    size = len(rows)
    foot = [_give(form), *foot_of(_keys(form.field), width)]
    gap = [BLANK] if room >= len(head) + size + len(foot) + 2 else []
    head = [*head[: max(1, room - min(size, 6) - len(foot) - 2 * len(gap))], *gap]
    left = max(1, room - len(head) - len(foot) - len(gap))
    before = sum(map(len, parts[: form.at]))
    last = before + (len(parts[form.at]) if form.field is not None else 0)
    form.top = max(0, min(max(form.top, last - left), before, size - left))
    return [*head, *rows[form.top : form.top + left], *gap, *foot]


def _give(form: FilledIn) -> Line:
    here = form.field is None
    count = "" if here or len(form.fields) == 1 else f"  field {form.at + 1} of {len(form.fields)}"
    mark, word = Span("▸ " if here else "  ", "accent"), Span(GIVE, "text:b" if here else "text")
    return Line((mark, word, Span(count, "faint")))


def _keys(field: Field | None) -> Sequence[str]:
    if field is None:
        return ("enter sends it to the server", "up goes back to a field", "esc leaves the form")
    how = KEYS.get(field.type)
    keys = (how, "up, down, enter: other fields", "esc leaves the form", NEEDED)
    return [key for key in keys if key]


def _field(form: FilledIn, number: int, width: int) -> list[Line]:
    field = form.fields[number]
    here = form.open and number == form.at
    column = min(max(map(_width, form.fields)), max(8, width // 3))
    label = one_line(field.label, strict=True) + (" *" if field.required else "")
    mark = Span("▸ " if here else "  ", "accent")
    name = Span(cells.pad(cells.fit(label, column), column) + "  ", "text:b" if here else "text")
    inner = max(8, width - column - 4)
    shown = _value(field, form.values[field.name], inner, place=form.choice[field.name], here=here)
    head = Line((mark, name, *shown[0].spans))
    rows = [head, *indent(shown[1:], " " * (column + 4))]
    return [*rows, *indent(_notes(form, field, inner), " " * (column + 4))]


def _width(field: Field) -> int:
    return cells.width(one_line(field.label, strict=True)) + 2 * field.required


def _notes(form: FilledIn, field: Field, width: int) -> list[Line]:
    why = form.problems.get(field.name)
    rows = flow(f"That is {why}.", width, "warning") if why else []
    role = "warning" if field.type == "secret" else "dim"
    told = [*map(_line, field.help.split("\n")), "" if why else limits(field)]
    return [*rows, *(row for each in told if each for row in flow(each, width, role))]


def _line(text: str) -> str:
    return one_line(text, strict=True)


def _value(field: Field, value: Any, width: int, *, place: int, here: bool) -> list[Line]:
    if field.type in TYPED:
        return _typed(field, value, width, here=here)
    if field.type == "boolean":
        words = [("Yes", value is True), ("No", value is False)]
        spans = [_choice(word, chosen=on, at=here and on) for word, on in words]
    else:
        chosen: list[object] = [*value] if field.type == "several" else [value]
        spans = [
            _choice(
                one_line(each, strict=True),
                chosen=each in chosen,
                at=here and number == place,
                several=field.type == "several",
            )
            for number, each in enumerate(field.options)
        ]
    parts = [part for span in spans for part in (span, Span("  "))]
    return wrap(parts, width)


def _choice(text: str, *, chosen: bool, at: bool, several: bool = False) -> Span:
    mark = ("[x]" if chosen else "[ ]") if several else ("(•)" if chosen else "( )")
    mark = mark.replace(" ", "\u00a0")  # stays whole where the row ends
    return Span(f"{mark}\u00a0{text}", "text:b" if at else "text" if chosen else "dim")


def _typed(field: Field, value: str, width: int, *, here: bool) -> list[Line]:
    """Its end, which is where one types; of a secret only that something stands there."""
    text = DOT * len(value) if field.type == "secret" else one_line(value, strict=True)
    text = text if len(text) <= LONGEST else "…" + text[-LONGEST:]
    cursor = [Span(CURSOR, "accent")] if here else []
    nothing = [] if here or text else [Span("—", "faint")]
    return wrap((Span(text, "text"), *nothing, *cursor), width, hard=True)[-4:] or [BLANK]
