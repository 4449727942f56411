"""The form that a server's schema describes: fields for people, and their values for the server.

Only what the protocol knows is a field: texts, numbers, yes or no, and choices.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec

from gatewright.mcp.asked.questions import Unfit
from gatewright.mcp.described import printable
from gatewright.tools.form_values import FORMATS, LONGEST
from gatewright.tools.interact import Field, FieldType
from gatewright.tools.system.secrets import secret_name

MOST_FIELDS, MOST_CHOICES = 30, 100
SHORT, LONG = 100, 500
LARGEST = 1e18  # a number of as many digits as may be typed
NOTHING = "(nothing)"  # as people read an empty value
SECRET = "This looks like a secret: the server gets it as it is."


class Form(msgspec.Struct, frozen=True):
    fields: tuple[Field, ...]
    values: Mapping[str, Mapping[str, str]]  # of a choice, by what people read

    def content(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """As the server named its choices."""
        found: dict[str, Any] = {}
        for name, value in given.items():
            known = self.values.get(name, {})
            if isinstance(value, list):
                found[name] = [known.get(each, each) for each in cast("list[str]", value)]
            else:
                found[name] = known.get(value, value) if isinstance(value, str) else value
        return found


def form_of(schema: Mapping[str, Any]) -> Form:
    """Raises Unfit."""
    properties = schema.get("properties")
    if not isinstance(properties, dict) or schema.get("type", "object") != "object":
        raise Unfit("The schema of a form is an object with properties.")
    table = cast("dict[str, Any]", properties)
    if len(table) > MOST_FIELDS:
        raise Unfit(f"A form has {MOST_FIELDS} fields at most.")
    required: object = schema.get("required")
    needed = cast("list[object]", required) if isinstance(required, list) else []
    fields: list[Field] = []
    values: dict[str, dict[str, str]] = {}
    for name, rule in table.items():
        if not isinstance(rule, dict):
            raise Unfit(f"{name}: is no schema")
        field, known = _field(name, cast("dict[str, Any]", rule), required=name in needed)
        fields.append(field)
        if known:
            values[name] = known
    return Form(tuple(fields), values)


def _field(name: str, rule: Mapping[str, Any], *, required: bool) -> tuple[Field, dict[str, str]]:
    title = rule.get("title")
    label = printable(title if isinstance(title, str) and title else name, SHORT)
    kind = rule.get("type")
    help = [_said(rule.get("description"))]
    choices: dict[str, str] = {}
    type: FieldType
    match kind:
        case "string" if choices := _choices(rule):
            type = "one"
        case "string":
            secret = secret_name(name) or secret_name(label.replace(" ", "_"))
            type = "secret" if secret else "text"
            help += [SECRET] if secret else []
        case "number" | "integer" | "boolean":
            type = kind
        case "array":
            items = rule.get("items")
            choices = _choices(cast("dict[str, Any]", items)) if isinstance(items, dict) else {}
            if not choices:
                raise Unfit(f"{name}: a list is of choices")
            type = "several"
        case _:
            raise Unfit(f"{name}: is of no type that a form has")
    named = {value: label for label, value in choices.items()}
    field = Field(
        name,
        " ".join(label.split()),
        type=type,
        options=tuple(choices),
        required=required,
        default=_default(rule.get("default"), type, named),
        help="\n".join(filter(None, help)),
        format=_format(rule) if type in ("text", "secret") else "",
        **_limits(rule, type),
    )
    return field, choices


def _format(rule: Mapping[str, Any]) -> str:
    """Where it is one that can be checked."""
    given = rule.get("format")
    return given if isinstance(given, str) and given in FORMATS else ""


def _limits(rule: Mapping[str, Any], type: str) -> dict[str, float | None]:
    match type:
        case "text" | "secret":
            words = ("minLength", "maxLength")
        case "number" | "integer":
            words = ("minimum", "maximum")
        case "several":
            words = ("minItems", "maxItems")
        case _:
            return {}
    least, most = (rule.get(word) for word in words)
    return {"least": _numeric(least), "most": _numeric(most)}


def _numeric(value: object) -> float | None:
    """As far as anybody can draw it and type it."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value if abs(value) <= LARGEST else None
    return None


def _default(value: object, type: str, named: Mapping[str, str]) -> Any:
    match type, value:
        case (("text" | "secret"), str()):
            return printable(value, LONGEST) if printable(value, LONGEST) == value else None
        case "one", str():
            return named.get(value)
        case "several", list():
            listed = cast("list[object]", value)
            return [named[each] for each in listed if isinstance(each, str) and each in named]
        case "boolean", bool():
            return value
        case "integer", int():
            return _numeric(value)
        case "number", int() | float():
            return _numeric(value)
        case _:
            return None


def _choices(rule: Mapping[str, Any]) -> dict[str, str]:
    """What the server gets, by what people read: titles, where no two are the same."""
    pairs: list[tuple[str, str]] = []
    named: object = rule.get("enumNames")
    names = cast("list[object]", named) if isinstance(named, list) else []
    for number, value in enumerate(_list(rule.get("enum"))):
        if isinstance(value, str):
            name = names[number] if number < len(names) else value
            pairs.append((name if isinstance(name, str) and name else value, value))
    for word in ("oneOf", "anyOf"):
        for each in _list(rule.get(word)):
            match each:
                case {"const": str(value), "title": str(title)}:
                    pairs.append((title, value))
                case {"const": str(value)}:
                    pairs.append((value, value))
                case _:
                    pass
    if len(pairs) > MOST_CHOICES:
        raise Unfit(f"There are {MOST_CHOICES} choices at most.")
    return _told_apart(pairs)


def _told_apart(pairs: Sequence[tuple[str, str]]) -> dict[str, str]:
    titles = [_said(title, SHORT) for title, _ in pairs]
    if not all(titles) or len(set(titles)) != len(titles):
        titles = [_said(value, SHORT) or NOTHING for _, value in pairs]
    found: dict[str, str] = {}
    for title, (_, value) in zip(titles, pairs, strict=True):
        if found.setdefault(title, value) != value:
            raise Unfit("Choices that are different look the same.")
    return found


def _list(value: object) -> Sequence[object]:
    return cast("list[object]", value) if isinstance(value, list) else ()


def _said(value: object, most: int = LONG) -> str:
    return " ".join(printable(value, most).split()) if isinstance(value, str) else ""
