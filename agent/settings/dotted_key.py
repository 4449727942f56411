"""One setting by its dotted key: what it means, what belongs there, what it is now."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args, get_origin

import msgspec
from msgspec import structs

from gatewright.agent.errors import SettingsError
from gatewright.agent.settings.layers.coerce import (
    coerce,
    describe,
    help_of,
    is_section,
    strip,
    unknown,
)
from gatewright.agent.settings.layers.key import parts_of, spelled
from gatewright.agent.settings.layers.known_fields import known_fields
from gatewright.agent.settings.layers.sources import dotted
from gatewright.agent.settings.schema import Settings
from gatewright.agent.settings.traits import Source
from gatewright.tools.system.untyped_json import obj


class Facts(msgspec.Struct, frozen=True):
    """`inside` are the keys below a group of settings; a single setting has none."""

    key: str
    help: str
    belongs: str
    default: Any = None
    inside: tuple[str, ...] = ()


def facts(key: str) -> Facts:
    """Raises SettingsError with the nearest name."""
    kind: Any = Settings
    help, default, at = "", None, ""
    for part in parts_of(key):
        bare = strip(kind)
        if is_section(bare):
            fields = _fields(bare)
            if part not in fields:
                raise SettingsError(f"{at}{part} {unknown(part, fields)}")
            kind, default = fields[part].type, fields[part].default
            help = help_of(kind) or help
        elif get_origin(bare) is dict and part:
            kind, default = get_args(bare)[1], None
        else:
            raise SettingsError(f"{at.rstrip('.')} takes {describe(kind)}, so there is no {key}.")
        at += f"{spelled((part,))}."
    bare = strip(kind)
    inside = tuple(_leaves(bare, at)) if is_section(bare) else ()
    shown = None if default is msgspec.NODEFAULT else msgspec.to_builtins(default)
    return Facts(key, help, describe(kind), shown, inside)


def value_at(values: Any, key: str) -> Any:
    """The value of a dotted key, or None."""
    for part in parts_of(key):
        values = obj(values).get(part)
    return values


def typed(text: str) -> Any:
    """JSON, or plain text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def check(key: str, value: Any, source: Source, home: Path) -> None:
    """Refuse what the loader would leave out. A project is taken as trusted: this is its owner."""
    nested: Any = value
    for part in reversed(parts_of(key)):
        nested = {part: nested}
    for fault in coerce(nested, Settings, source, trusted=True, home=home).faults:
        end = "" if fault.message.endswith("?") else "."
        raise SettingsError(f"{dotted(fault.key)} {fault.message}{end}")


@functools.cache
def _fields(kind: Any) -> dict[str, structs.FieldInfo]:
    """By name. To look once is 4 ms, and a list of all settings looks a hundred times."""
    return {field.encode_name: field for field in known_fields(kind)}


def _leaves(kind: Any, at: str) -> Iterator[str]:
    for field in _fields(kind).values():
        inner = strip(field.type)
        if is_section(inner):
            yield from _leaves(inner, f"{at}{field.encode_name}.")
        else:
            yield f"{at}{field.encode_name}"
