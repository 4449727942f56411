"""Values of a form: what is typed as a value, and why a value does not fit its field.

Pure, so that who draws a form says the same as who asked with it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from datetime import date, datetime
from typing import Any, cast
from urllib.parse import urlsplit

from gatewright.tools.interact import Field

LONGEST = 10_000  # characters of one text
TYPED = frozenset({"text", "secret", "number", "integer"})  # the others are chosen
_MAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
_WHOLE = re.compile(r"[+-]?\d{1,18}")
_NUMBER = re.compile(r"[+-]?\d{1,18}(\.\d{1,18})?([eE][+-]?\d{1,2})?")


def typed(field: Field, text: str) -> Any:
    """What a text stands for; None for nothing, the text itself where it is no such value."""
    text = text.strip()
    if field.type == "integer" and _WHOLE.fullmatch(text):
        return int(text)
    if field.type == "number" and _NUMBER.fullmatch(text):
        return float(text)
    return text or None


def wrong(field: Field, value: Any) -> str:
    """Why the value is none for this field, behind "that is"; empty where it is one."""
    if value is None:
        return "needed" if field.required else ""
    right = {
        "text": isinstance(value, str),
        "secret": isinstance(value, str),
        "boolean": isinstance(value, bool),
        "integer": isinstance(value, int) and not isinstance(value, bool),
        "number": isinstance(value, int | float) and not isinstance(value, bool),
        "one": value in field.options,
        "several": _all_of(field.options, value),
    }[field.type]
    if not right:
        wanted = {"integer": "no whole number", "number": "no number"}
        return wanted.get(field.type, "none of what can be chosen")
    return _outside(field, value)


def limits(field: Field) -> str:
    """What a value has to be, for who is about to type it; empty where anything will do."""
    of = {"text": " characters", "secret": " characters", "several": " to choose"}.get(
        field.type, ""
    )
    least = f"{field.least:g}" if field.least else ""
    if field.least is not None and field.type in ("number", "integer"):
        least = f"{field.least:g}"
    if least and field.most is not None:
        size = f"{least} to {field.most:g}{of}"
    elif least:
        size = f"{least}{of} at least"
    else:
        size = f"{field.most:g}{of} at most" if field.most is not None else ""
    kind = {"integer": "a whole number", "number": "a number"}.get(field.type, field.format)
    return ", ".join(filter(None, (kind, size)))


def about(field: Field) -> str:
    """One line for who draws no forms: its name, what it takes, and what stands there."""
    kinds = {"boolean": "yes or no", "secret": "secret", "text": "text"}
    choices = ", ".join(field.options)
    kind = {"one": f"one of: {choices}", "several": f"any of: {choices}"}.get(field.type)
    standing = field.default
    if isinstance(standing, bool):
        standing = "yes" if standing else "no"
    elif isinstance(standing, list):
        standing = ", ".join(map(str, cast("list[object]", standing)))
    told = (
        kind or limits(field) or kinds.get(field.type, ""),
        limits(field) if kind else "",
        "" if field.required else "optional",
        "" if standing in (None, "") else f"now {standing}",
    )
    return f"{field.label} ({'; '.join(filter(None, told))})"


def _all_of(options: Collection[str], value: Any) -> bool:
    return isinstance(value, list) and all(each in options for each in cast("list[object]", value))


def _outside(field: Field, value: Any) -> str:
    match value:
        case str() if field.type != "one":
            if why := _between(field, len(value), " characters"):
                return why
            if len(value) > LONGEST:
                return f"longer than {LONGEST:,} characters"
            check = FORMATS.get(field.format)
            return "" if check is None or check(value) else f"no {field.format}"
        case int() | float() if not isinstance(value, bool):
            return _between(field, value, "")
        case list():
            return _between(field, len(cast("list[object]", value)), " to choose")
        case _:
            return ""


def _between(field: Field, value: float, of: str) -> str:
    if field.least is not None and value < field.least:
        return f"too little: {field.least:g}{of} at least"
    if field.most is not None and value > field.most:
        return f"too much: {field.most:g}{of} at most"
    return ""


def _reads(read: Callable[[str], object]) -> Callable[[str], bool]:
    def check(value: str) -> bool:
        try:
            read(value)
        except ValueError:
            return False
        return True

    return check


def _has_scheme(value: str) -> bool:
    return bool(urlsplit(value).scheme)


FORMATS: Mapping[str, Callable[[str], object]] = {
    "email": lambda value: _MAIL.fullmatch(value) is not None,
    "uri": lambda value: _reads(urlsplit)(value) and _has_scheme(value),
    "date": _reads(date.fromisoformat),
    "date-time": _reads(datetime.fromisoformat),
}
