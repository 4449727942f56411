"""Whether a value is what a server's schema says: checked without following or running anything.

A schema is the server's. Nothing is fetched for it: a reference leads to a part of it that was
checked. What can take for ever, as patterns can, is left to the server, and so is all that is not
found out in time.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, cast

_LEFT_OUT = frozenset(
    {"pattern", "patternProperties", "format", "$schema", "$id", "$anchor", "$dynamicAnchor"}
    | {"$dynamicRef", "$recursiveRef", "uniqueItems", "unevaluatedItems", "unevaluatedProperties"}
)
_NAMED = frozenset({"properties", "$defs", "definitions", "dependentSchemas"})
_VALUES = frozenset({"enum", "const", "default", "examples"})
# A reference to a schema by way of schemas: no value of an enum is one.
_INSIDE = re.compile(
    r"#(/(\$defs|definitions|properties|dependentSchemas)/[^/]+|/(all|any|one)Of/\d+"
    r"|/prefixItems/\d+|/(items|contains|not|if|then|else|propertyNames|additionalProperties))*"
)
DEEPEST = 40
SECONDS = 0.05  # for one value


def mismatch(schema: Mapping[str, Any], value: Any) -> str:
    """What is wrong with the value and where; empty where nothing is known to be."""
    from jsonschema.exceptions import SchemaError  # noqa: PLC0415  lazy: 60 ms
    from referencing import Registry as Known  # noqa: PLC0415
    from referencing.exceptions import Unresolvable  # noqa: PLC0415

    made, nothing = _bounded(), cast("Callable[[], Any]", Known)()  # which fetches nothing
    try:
        plain = _plain(schema, 0)
        made.check_schema(plain)
        validator: Any = made(plain, registry=nothing)
        _limit.until = time.monotonic() + SECONDS
        error = next(iter(validator.iter_errors(value)), None)
    except (SchemaError, Unresolvable, RecursionError, ValueError, TypeError, KeyError, _TooLong):
        return ""  # the server knows what it meant, and judges for itself
    if error is None:
        return ""
    place = ".".join(map(str, error.absolute_path))
    text = " ".join(str(error.message)[:300].split())
    return f"{place}: {text}" if place else text


class _TooLong(Exception):
    """It is not known in time."""


class _Limit:
    until = 0.0


_limit = _Limit()
_Keyword = Callable[..., Iterator[Any] | None]


@cache
def _bounded() -> Any:
    """A validator that looks at the time before each word of a schema: references multiply."""
    from jsonschema import Draft202012Validator  # noqa: PLC0415  lazy: 60 ms
    from jsonschema import validators as made  # noqa: PLC0415

    plain, untyped = cast("Any", Draft202012Validator), cast("Any", made)
    return untyped.extend(plain, {w: _timed(each) for w, each in plain.VALIDATORS.items()})


def _timed(keyword: _Keyword) -> _Keyword:
    def checked(*given: Any) -> Iterator[Any] | None:
        if time.monotonic() > _limit.until:
            raise _TooLong
        return keyword(*given)

    return checked


def _plain(schema: object, depth: int) -> Any:
    if depth > DEEPEST:
        raise ValueError("too deep")
    match schema:
        case dict():
            table = cast("dict[str, Any]", schema)
            kept: dict[str, Any] = {}
            for key, value in table.items():
                if key in _LEFT_OUT or (key == "$ref" and not _INSIDE.fullmatch(str(value))):
                    continue
                if key in _VALUES:
                    kept[key] = value
                elif key in _NAMED and isinstance(value, dict):
                    named = cast("dict[str, Any]", value)
                    kept[key] = {name: _plain(each, depth + 1) for name, each in named.items()}
                else:
                    kept[key] = _plain(value, depth + 1)
            return kept
        case list():
            return [_plain(each, depth + 1) for each in cast("list[object]", schema)]
        case _:
            return schema
