"""The schema of an answer: whether any value can satisfy it, found before an agent works for it.

References lead nowhere but into the schema itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import msgspec

MOST = 64 * 1024  # bytes
DEEP = 64
# What says of how many, and of how long: the least and the most of one thing.
_PAIRS = (
    ("minimum", "maximum"), ("minLength", "maxLength"), ("minItems", "maxItems"),
    ("minProperties", "maxProperties"), ("minContains", "maxContains"),
)  # fmt: skip
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_BELOW_EACH = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_KINDS: Mapping[str, tuple[type, ...]] = {
    "object": (dict,), "array": (list,), "string": (str,), "boolean": (bool,),
    "null": (type(None),), "number": (int, float), "integer": (int,),
}  # fmt: skip


def fault(schema: Mapping[str, Any]) -> str:
    """Why no answer could satisfy it, or why it is no schema; empty where nothing is wrong."""
    try:
        encoded = msgspec.json.encode(schema)
    except (msgspec.MsgspecError, RecursionError, TypeError) as error:
        return f"the schema is no JSON: {error}"
    if len(encoded) > MOST:
        return f"the schema has {len(encoded):,} bytes; {MOST:,} is the most"
    for at, node in _nodes(schema, "$", 0):
        if at is None:
            return f"the schema is more than {DEEP} deep"
        if wrong := _remote(node) or _contradiction(node):
            return f"{at}: {wrong}"
    from gatewright.agent.turn.structured_answer import Shape  # noqa: PLC0415  lazy: 40 ms, with a schema

    return Shape(encoded.decode()).fault()


def _nodes(node: object, at: str, depth: int) -> Iterator[tuple[str | None, Mapping[str, Any]]]:
    """Every schema within it; names of properties are no schemas."""
    if depth > DEEP:
        yield None, {}
        return
    if isinstance(node, list):
        for index, each in enumerate(cast("list[object]", node)):
            yield from _nodes(each, f"{at}[{index}]", depth + 1)
    if not isinstance(node, dict):
        return
    known = cast("dict[str, Any]", node)
    yield at, known
    for name, below in known.items():
        if name in ("const", "enum", "default", "examples", "required"):
            continue
        if name in _BELOW_EACH and isinstance(below, dict):
            for key, each in cast("dict[str, Any]", below).items():
                yield from _nodes(each, f"{at}.{name}.{key}", depth + 2)
            continue
        yield from _nodes(below, f"{at}.{name}", depth + 1)


def _remote(node: Mapping[str, Any]) -> str:
    for name in _REFERENCES:
        target = node.get(name)
        if isinstance(target, str) and not target.startswith("#"):
            return f"{name} {target!r:.80} leads out of the schema; only # is followed"
    return ""


def _contradiction(node: Mapping[str, Any]) -> str:
    for least, most in _PAIRS:
        low, high = node.get(least), node.get(most)
        if _number(low) and _number(high) and cast("float", low) > cast("float", high):
            return f"{least} {low} is more than {most} {high}"
    if node.get("enum") == []:
        return "enum is empty: no value is allowed"
    if wrong := _types(node):
        return wrong
    return _required(node)


def _types(node: Mapping[str, Any]) -> str:
    kinds = _kinds(node.get("type"))
    if not kinds:
        return ""
    said = node.get("enum")
    values = cast("list[object]", said) if isinstance(said, list) else None
    if values and not any(_fits(value, kinds) for value in values):
        return f"no value of enum is of type {', '.join(kinds)}"
    if "const" in node and not _fits(node["const"], kinds):
        return f"const is not of type {', '.join(kinds)}"
    if "const" in node and values is not None and node["const"] not in values:
        return "const is not among the values of enum"
    return ""


def _kinds(said: object) -> tuple[str, ...]:
    if isinstance(said, str):
        return (said,) if said in _KINDS else ()
    if isinstance(said, list):
        names = cast("list[object]", said)
        return tuple(name for name in names if isinstance(name, str) and name in _KINDS)
    return ()


def _fits(value: object, kinds: Sequence[str]) -> bool:
    if isinstance(value, bool):
        return "boolean" in kinds
    if isinstance(value, float) and value.is_integer() and "integer" in kinds:
        return True
    return any(isinstance(value, _KINDS[kind]) for kind in kinds)


def _required(node: Mapping[str, Any]) -> str:
    required = node.get("required")
    if not isinstance(required, list):
        return ""
    properties = cast("dict[str, Any]", node.get("properties") or {})
    names = [name for name in cast("list[object]", required) if isinstance(name, str)]
    for name in names:
        if properties.get(name, True) is False:
            return f"{name} is required, and no value of it is allowed"
        closed = node.get("additionalProperties") is False and "patternProperties" not in node
        if closed and name not in properties:
            return f"{name} is required, and is no property while others are not allowed"
    most = node.get("maxProperties")
    if _number(most) and len(set(names)) > cast("float", most):
        return f"{len(set(names))} properties are required and {most} allowed"
    return ""


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
