"""A form put to the person: by a front end that draws forms, or field by field by every other."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, cast

from msgspec.structs import replace

from gatewright.agent.text.printable import escaped
from gatewright.tools.blocks import Text
from gatewright.tools.form_values import TYPED, typed, wrong
from gatewright.tools.interact import ACCEPT, ELICITATION, Answer, Ask, Field, Option

YES, NO = "yes", "no"
LEAVE, KEEP = " leave", " keep"  # no choice of a server's begins with a blank
WRONG = "That is {why}."

Asker = Callable[[Ask], Awaitable[Answer]]


async def filled(ask: Asker, form: Ask) -> Answer | None:
    """The answer to the form, with values that fit; None where somebody left it half filled in."""
    answer = await ask(form)
    if answer.cancelled or answer.choice != ACCEPT or not form.fields:
        return answer
    given, values = answer.values or {}, dict[str, Any]()
    for number, field in enumerate(form.fields, 1):
        value = given.get(field.name)
        if answer.values is None or wrong(field, value):
            count = f"{number} of {len(form.fields)}" if len(form.fields) > 1 else ""
            value = await _field(ask, replace(form, reason=count), field)
            if isinstance(value, _Left):
                return None
        if value is not None:
            values[field.name] = value
    return replace(answer, values=values, text="")


class _Left:
    """The person left the form."""


async def _field(ask: Asker, form: Ask, field: Field) -> Any:
    """What the person says of one field; None for nothing."""
    why = ""
    while True:
        answer = await ask(_question(form, field, why))
        if answer.cancelled or answer.choice == LEAVE:
            return _Left()
        value = read(field, answer)
        if value is None and not field.required and not answer.text:
            return None
        why = wrong(field, value)
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
        options=options(field),
        reason=" · ".join(filter(None, (form.reason, "What you type is shown" if secret else ""))),
        multiple=field.type == "several",
        free_text=field.type in TYPED,
    )


def options(field: Field) -> tuple[Option, ...]:
    left = Option(
        LEAVE, "Leave the form", "" if field.type in TYPED else "x"
    )  # an x may begin what is typed
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
    match field.type:
        case _ if answer.choice == KEEP:
            return field.default
        case "boolean":
            return {YES: True, NO: False}.get(answer.choice)
        case "one":
            return answer.choice or None
        case "several":
            return [each for each in answer.choices if each not in (KEEP, LEAVE)]
        case _:
            return typed(field, answer.text)
