"""The settings that a form can show: every single value of the schema, with what belongs there."""

from __future__ import annotations

import types
from collections.abc import Iterator
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin

import msgspec

from gatewright.agent.commands.panels import Option, OptionKind
from gatewright.agent.settings.layers.coerce import describe, help_of, is_section, strip
from gatewright.agent.settings.layers.known_fields import known_fields
from gatewright.agent.settings.schema import Settings

SIMPLE: dict[Any, OptionKind] = {bool: "switch", int: "number", float: "number", str: "text"}


@cache
def fields_of() -> tuple[Option, ...]:
    """In the schema's order. Tables and lists of rules have panels or commands of their own."""
    return tuple(_fields(Settings, ""))


def _fields(kind: type[msgspec.Struct], at: str) -> Iterator[Option]:
    for field in known_fields(kind):
        inner, key = strip(field.type), f"{at}{field.encode_name}"
        if is_section(inner):
            yield from _fields(inner, f"{key}.")
        elif (found := _kind(inner)) is not None:
            help, belongs = help_of(field.type), describe(field.type)
            yield Option(key=key, help=help, belongs=belongs, kind=found[0], choices=found[1])


def _kind(kind: Any) -> tuple[OptionKind, tuple[str, ...]] | None:
    if get_origin(kind) in (Union, types.UnionType):
        parts = [strip(part) for part in get_args(kind) if part is not type(None)]
        if len(parts) == 1:
            return _kind(parts[0])
        choices = [choice for part in parts for choice in _choices(part)]
        return ("choice", tuple(choices)) if choices else None
    if get_origin(kind) is Literal:
        return "choice", tuple(_choices(kind))
    if get_origin(kind) is tuple:
        return ("list", ()) if get_args(kind)[0] is str else None
    simple = SIMPLE.get(kind)
    return None if simple is None else (simple, ())


def _choices(kind: Any) -> Iterator[str]:
    if kind is bool:
        yield from ("true", "false")
    elif get_origin(kind) is Literal:
        yield from (str(value) for value in get_args(kind) if value != "")
