"""A form being filled in: which field has the keys, what stands in each, and what is wrong there.

Nothing of it is given before Enter on its last row; what does not fit is said and not given.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from gatewright.tools.form_values import LONGEST, TYPED, typed, wrong
from gatewright.tools.interact import ACCEPT, Answer, Ask, Field

Pressed: TypeAlias = Literal["", "used", "back", "give"]
MOVES = {"up": -1, "shift+tab": -1, "down": 1, "tab": 1}
ENDS = {"pageup": 0, "pagedown": -1}


class FilledIn:
    """`values` are texts for what is typed, and what is chosen for the others."""

    def __init__(self, ask: Ask) -> None:
        self.fields = ask.fields
        self.at = 0  # behind the last field: what gives it
        self.open = False  # whether the keys are its own
        self.top = 0  # the first row that is seen
        self.values: dict[str, Any] = {each.name: _begun(each) for each in ask.fields}
        self.problems: dict[str, str] = {}
        self.choice: dict[str, int] = {each.name: _place(each) for each in ask.fields}

    @property
    def field(self) -> Field | None:
        return self.fields[self.at] if self.at < len(self.fields) else None

    def press(self, key: str, character: str) -> Pressed:
        """What came of it; an empty text where the key is none of the form's."""
        if key in MOVES:
            self.at = (self.at + MOVES[key]) % (len(self.fields) + 1)
        elif key in ENDS:
            self.at = ENDS[key] % (len(self.fields) + 1)
        elif key == "escape":
            return "back"
        elif key == "enter":
            if self.field is None:
                return "give" if self._fits() else "used"
            self.at += 1
        elif self.field is None:
            return "used" if character else ""
        else:
            return self._edited(self.field, key, character)
        return "used"

    def paste(self, text: str) -> None:
        if self.field is not None and self.field.type in TYPED:
            self._put(self.field, self.values[self.field.name] + " ".join(text.split("\n")))

    def answer(self) -> Answer:
        given = {each.name: self._value(each) for each in self.fields}
        return Answer((ACCEPT,), values={n: v for n, v in given.items() if v is not None})

    def _value(self, field: Field) -> Any:
        value = self.values[field.name]
        if field.type in TYPED:
            return typed(field, value)
        return value if value or field.required or isinstance(value, bool) else None

    def _fits(self) -> bool:
        found = {each.name: wrong(each, self._value(each)) for each in self.fields}
        self.problems = {name: why for name, why in found.items() if why}
        bad = [n for n, each in enumerate(self.fields) if each.name in self.problems]
        self.at = bad[0] if bad else self.at
        return not bad

    def _put(self, field: Field, value: Any) -> None:
        self.values[field.name] = value[:LONGEST] if isinstance(value, str) else value
        self.problems.pop(field.name, None)

    def _edited(self, field: Field, key: str, character: str) -> Pressed:
        text = character if character.isprintable() else ""
        if field.type in TYPED:
            return self._written(field, key, text)
        if key in ("backspace", "delete", "ctrl+u"):
            self._put(field, [] if field.type == "several" else None)
        elif field.type == "boolean":
            return self._decided(field, key, text)
        elif key in ("left", "right"):
            self._step(field, 1 if key == "right" else -1)
        elif key == "space":
            self._choose(field)
        else:
            return "used" if text else ""
        return "used"

    def _written(self, field: Field, key: str, text: str) -> Pressed:
        value: str = self.values[field.name]
        if key == "backspace":
            self._put(field, value[:-1])
        elif key == "ctrl+u":
            self._put(field, "")
        elif key == "ctrl+w":
            head = value.rstrip()
            self._put(field, head[: head.rfind(" ") + 1])
        elif text:
            self._put(field, value + text)
        else:
            return "used" if key in ("left", "right", "home", "end", "delete") else ""
        return "used"

    def _decided(self, field: Field, key: str, text: str) -> Pressed:
        if text in ("y", "n"):
            self._put(field, text == "y")
        elif key in ("space", "left", "right"):
            self._put(field, not self.values[field.name])
        else:
            return "used" if text else ""
        return "used"

    def _step(self, field: Field, delta: int) -> None:
        """Of several a mark moves, of one the choice itself."""
        nothing = field.type == "one" and self.values[field.name] is None
        place = self.choice[field.name] + (0 if nothing else delta)
        self.choice[field.name] = max(0, min(place, len(field.options) - 1))
        if field.type == "one":
            self._put(field, field.options[self.choice[field.name]])

    def _choose(self, field: Field) -> None:
        here = field.options[self.choice[field.name]]
        if field.type == "one":
            self._put(field, here)
        else:
            chosen = set(self.values[field.name]) ^ {here}
            self._put(field, [each for each in field.options if each in chosen])


def _begun(field: Field) -> Any:
    """What stands there before anybody typed."""
    match field.type:
        case "boolean" | "one":
            return field.default
        case "several":
            return list(field.default or ())
        case _:
            return "" if field.default is None else str(field.default)


def _place(field: Field) -> int:
    return field.options.index(field.default) if field.default in field.options else 0
