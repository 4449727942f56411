"""A form put to the person: by a front end that draws forms, or field by field by every other."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Collection
from typing import Any, cast

from msgspec.structs import replace

from gatewright.agent.text.printable import escaped
from gatewright.tools.blocks import Text
from gatewright.tools.interact import ELICITATION, Answer, Ask, Field, Option

ACCEPT = "accept"
YES, NO, LEAVE, KEEP = "yes", "no", "leave", "keep"
WRONG = "That is {why}."

Asker = Callable[[Ask], Awaitable[Answer]]
Check = Callable[[Field, Any], str]


def fits(field: Field, value: Any) -> str:
    """Nothing more is known of it than its kind."""
    del field, value
    return ""


async def filled(ask: Asker, form: Ask, check: Check = fits) -> Answer | None:
    """The answer to the form, with values that fit; None where somebody left it half filled in."""
    answer = await ask(form)
    if answer.cancelled or answer.choice != ACCEPT or not form.fields:
        return answer
    given, values = answer.values or {}, dict[str, Any]()
    for number, field in enumerate(form.fields, 1):
        value = given.get(field.name)
        if answer.values is None or problem(field, value, check):
            count = f"{number} of {len(form.fields)}" if len(form.fields) > 1 else ""
            value = await _field(ask, replace(form, reason=count), field, check)
            if isinstance(value, _Left):
                return None
        if value is not None:
            values[field.name] = value
    return replace(answer, values=values, text="")


class _Left:
    """The person left the form."""


async def _field(ask: Asker, form: Ask, field: Field, check: Check) -> Any:
    """What the person says of one field; None for nothing."""
    why = ""
    while True:
        answer = await ask(_question(form, field, why))
        if answer.cancelled or answer.choice == LEAVE:
            return _Left()
        value = read(field, answer)
        if value is None and not field.required and not answer.text:
            return None
        why = problem(field, value, check)
        if not why:
            return value


def _question(form: Ask, field: Field, why: str) -> Ask:
    body = [Text(field.label)]
    body += [Text(field.help, "dim")] if field.help else []
    body += [Text(WRONG.format(why=why), "warning")] if why else []
    secret = field.type == "secret"
    return Ask(
        kind=ELICITATION,
        title=form.title,
        body=tuple(body),
        options=_options(field),
        reason=" · ".join(filter(None, (form.reason, "What you type is shown" if secret else ""))),
        multiple=field.type == "several",
        free_text=field.type in ("text", "secret", "number", "integer"),
    )


def _options(field: Field) -> tuple[Option, ...]:
    typed = field.type not in ("boolean", "one", "several")
    left = Option(LEAVE, "Leave the form", "" if typed else "x")  # an x may begin what is typed
    match field.type:
        case "boolean":
            ways = [Option(YES, "Yes", "y"), Option(NO, "No", "n")]
            if field.default is False:
                ways.reverse()
            return (*ways, left)
        case "one" | "several":
            several = isinstance(field.default, list)
            chosen = cast("list[Any]", field.default) if several else [field.default]
            first = [each for each in field.options if each in chosen]
            rest = [each for each in field.options if each not in chosen]
            listed = [*first, *rest]
            ways = [Option(each, escaped(each), _key(n)) for n, each in enumerate(listed, 1)]
            return (*ways, *_none(field), left)
        case _:
            return (*_none(field), left)


def _none(field: Field) -> tuple[Option, ...]:
    if field.default is not None and field.type not in ("one", "several"):
        return (Option(KEEP, f"Keep {escaped(str(field.default))}"),)
    return () if field.required else (Option(KEEP, "Nothing"),)


def _key(number: int) -> str:
    return str(number) if number < 10 else ""


def read(field: Field, answer: Answer) -> Any:
    """The value that an answer stands for; None for none."""
    text = answer.text.strip()
    match field.type:
        case _ if answer.choice == KEEP:
            return field.default
        case "boolean":
            return {YES: True, NO: False}.get(answer.choice)
        case "one":
            return answer.choice or None
        case "several":
            return [each for each in answer.choices if each not in (KEEP, LEAVE)]
        case "integer" if re.fullmatch(r"[+-]?\d{1,18}", text):
            return int(text)
        case "number" if re.fullmatch(r"[+-]?\d{1,18}(\.\d{1,18})?([eE][+-]?\d{1,2})?", text):
            return float(text)
        case _:
            return text or None


def problem(field: Field, value: Any, check: Check = fits) -> str:
    """Why the value is none for this field; empty where it is one."""
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
    return check(field, value)


def _all_of(options: Collection[str], value: Any) -> bool:
    return isinstance(value, list) and all(each in options for each in cast("list[object]", value))
